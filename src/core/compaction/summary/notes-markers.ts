// The lines that delimit the notes of a compaction. They are stored, so after a change here old ones must still
// be read.

export const notesMarkers = {
  start: "<notes-on-earlier-conversation>",
  summary: "--- Summary ---",
  outline: "--- Outline ---",
  words: "--- The user's words ---",
  index: "--- Identifiers ---",
  skills: "--- Skills that were loaded, and can be loaded again with skill_load ---",
  end: "</notes-on-earlier-conversation>",
} as const;
