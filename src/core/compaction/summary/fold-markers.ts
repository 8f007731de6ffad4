// The lines that set the notes of a fold apart. They are stored with every fold: what changes here must read both.

export const foldMarkers = {
  start: "<notes-on-earlier-conversation>",
  summary: "--- Summary ---",
  outline: "--- Outline ---",
  index: "--- Identifiers ---",
  skills: "--- Skills that were loaded, and can be loaded again with skill_load ---",
  end: "</notes-on-earlier-conversation>",
} as const;
