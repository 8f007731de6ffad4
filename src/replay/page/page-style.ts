// The page's only style sheet. Colours are classes, because the page's security policy forbids style attributes.

export const pageStyle: string = `
:root { color-scheme: light dark; --page: #fff; --text: #1c2024; --soft: #5d6672; --line: #d9dde2;
  --panel: #f5f6f8; --read: #2f6fb5; --written: #dd9a00; --fresh: #c2385a; --bar: #6b7c93; --limit: #0a7f5a; }
@media (prefers-color-scheme: dark) {
  :root { --page: #14171a; --text: #e6e9ec; --soft: #9aa4af; --line: #343a41; --panel: #1d2125;
    --read: #5b9be0; --written: #e8b23a; --fresh: #e2607f; --bar: #8494a8; --limit: #3cc795; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1200px; padding: 16px; background: var(--page); color: var(--text);
  font: 15px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; margin: 0 0 8px; }
h2 { font-size: 1.15rem; margin: 32px 0 8px; }
h3 { font-size: 1rem; margin: 16px 0 4px; }
p { margin: 8px 0; max-width: 75ch; }
ul { padding-left: 20px; }
.facts { display: flex; flex-wrap: wrap; gap: 8px; margin: 12px 0; padding: 0; }
.facts div { background: var(--panel); border-radius: 6px; padding: 6px 12px; }
.facts dt { color: var(--soft); font-size: 0.8rem; }
.facts dd { margin: 0; font-weight: 600; }
.scroll { overflow-x: auto; max-width: 100%; }
:focus-visible { outline: 2px solid var(--read); outline-offset: 2px; }
table { border-collapse: collapse; font-size: 0.87rem; font-variant-numeric: tabular-nums; }
th, td { padding: 4px 10px; text-align: left; border-bottom: 1px solid var(--line); white-space: nowrap; }
thead th { color: var(--soft); font-weight: 500; }
tbody th { position: sticky; left: 0; max-width: 45vw; overflow: hidden; text-overflow: ellipsis;
  background: var(--page); font-weight: 600; }
.number { text-align: right; }
summary { cursor: pointer; padding: 4px 0; }
label { display: inline-block; margin: 0 16px 8px 0; max-width: 100%; }
select { font: inherit; max-width: 100%; padding: 4px; background: var(--panel); color: inherit;
  border: 1px solid var(--line); border-radius: 4px; }
svg { display: block; }
svg text { fill: var(--text); font-size: 12px; }
#costs text { paint-order: stroke; stroke: var(--page); stroke-width: 4px; stroke-linejoin: round; white-space: pre; }
rect.bar { fill: var(--bar); }
rect.bar.recorded { fill: var(--written); }
.limit line, .limit-warm line { stroke: var(--limit); stroke-width: 2; }
.limit-warm line { stroke-dasharray: 4 3; }
.legend span { margin-right: 14px; }
.legend span::before { content: ""; display: inline-block; width: 12px; height: 12px; margin-right: 6px; }
.legend .read::before { background: var(--read); }
.legend .written::before { background: var(--written); }
.legend .fresh::before { background: var(--fresh); }
rect.read { fill: var(--read); }
rect.written { fill: var(--written); }
rect.fresh { fill: var(--fresh); }
rect.system { opacity: 0.82; }
rect.history { opacity: 0.64; }
rect.rest { opacity: 0.4; }
rect.side { fill: var(--soft); }
rect.whole { fill: transparent; }
.call:hover rect.whole { fill: var(--line); }
line.miss { stroke: var(--text); stroke-width: 1.5; }
line.grid { stroke: var(--line); }
.break line { stroke: var(--soft); stroke-dasharray: 2 3; }
.break text { fill: var(--soft); font-size: 10px; text-anchor: end; }
text.tick { fill: var(--soft); font-size: 11px; text-anchor: end; }
`;
