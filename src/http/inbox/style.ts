/**
 * How the inbox looks: one column, the system's own type, light and dark.
 * @module
 */

/** The style sheet. Its hash is in the policy, so it stands in the page exactly as here. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --page: #f5f4f0; --card: #ffffff; --text: #1f2422; --quiet: #5c645f; --line: #dddbd3; --field: #8a918c;
  --code: #f5f4f0; --link: #1c5f52; --go: #1c6152; --go-over: #154c40; --on-go: #ffffff;
  --yes: #1c6152; --yes-wash: #e2efe9; --no: #97331f; --no-wash: #f8e8e3; --open: #74520a; --open-wash: #f6edd6;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #161917; --card: #1f2321; --text: #e7e9e6; --quiet: #a3aba6; --line: #353b38; --field: #757e79;
    --code: #171a18; --link: #86cdb9; --go: #86cdb9; --go-over: #a3dccb; --on-go: #10211c;
    --yes: #8fd3bf; --yes-wash: #1d362f; --no: #f0a48f; --no-wash: #3d251f; --open: #e3c274; --open-wash: #393017;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
header.top, main { max-width: 46rem; margin: 0 auto; padding: 0 1rem; }
header.top { display: flex; justify-content: space-between; align-items: center; min-height: 3.5rem; }
header.top nav { display: flex; gap: 1.25rem; align-items: center; font-size: .9375rem; }
main { padding-top: 1rem; padding-bottom: 4rem; }
a { color: var(--link); text-underline-offset: .2em; text-decoration-thickness: 1px; }
.brand { color: var(--text); font-weight: 650; text-decoration: none; letter-spacing: -.01em; }
h1, h2, h3, h4, p, ul, ol, dl, dd, pre { margin: 0; padding: 0; }
ul, ol { list-style: none; }
h1 { font-size: 1.625rem; line-height: 1.25; font-weight: 650; letter-spacing: -.015em; }
h2 { font-size: 1rem; font-weight: 600; margin: 2rem 0 .75rem; }
h3, article h1 { font-size: 1.1875rem; line-height: 1.35; font-weight: 600; letter-spacing: -.005em; }
h3 a { color: inherit; text-decoration-color: var(--field); }
h4, dt, label { font-size: .875rem; font-weight: 500; color: var(--quiet); }
label { display: block; margin-bottom: .375rem; }
code, pre { font: .875rem/1.55 ui-monospace, 'SF Mono', Menlo, Consolas, monospace; }
.quiet { color: var(--quiet); font-weight: 400; }
.small { font-size: .875rem; }
.count { color: var(--quiet); font-weight: 400; margin-left: .25rem; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.crumb { margin-bottom: 1rem; font-size: .9375rem; }
.narrow { max-width: 25rem; margin: 8vh auto 0; }
.narrow > * + * { margin-top: .75rem; }
.narrow > .panel { margin-top: 1.5rem; }
.card, .panel, .decided, .empty { background: var(--card); border: 1px solid var(--line); border-radius: 12px; }
.card, .panel { padding: 1.25rem; }
.cards { display: grid; gap: 1rem; }
.cards > li { min-width: 0; }
.empty { padding: 2.5rem 1.25rem; color: var(--quiet); text-align: center; }
.head { display: flex; flex-wrap: wrap; justify-content: space-between; align-items: baseline; gap: .125rem 1rem; }
.timing { color: var(--quiet); font-size: .875rem; font-variant-numeric: tabular-nums; }
.summary { margin-top: .5rem; }
dl { display: grid; grid-template-columns: 1fr 1fr; gap: .75rem 1.5rem; margin-top: 1.125rem; }
dl > div { min-width: 0; }
dl > .wide { grid-column: 1 / -1; }
dd, pre, code, .summary, .note { unicode-bidi: isolate; }
.arguments { margin-top: 1rem; }
pre { margin-top: .375rem; padding: .75rem .875rem; background: var(--code); border: 1px solid var(--line); border-radius: 8px; white-space: pre-wrap; }
pre.part { max-height: 24rem; overflow: auto; }
.decide { margin-top: 1rem; }
.buttons { display: flex; gap: .75rem; margin-top: .75rem; }
input, textarea { width: 100%; padding: .5rem .75rem; font: inherit; color: inherit; background: var(--card); border: 1px solid var(--field); border-radius: 8px; }
textarea { display: block; min-height: 4rem; resize: vertical; }
button { min-height: 2.75rem; min-width: 8rem; padding: .5rem 1.25rem; font: inherit; font-weight: 600; border-radius: 8px; border: 1px solid transparent; cursor: pointer; }
button.yes { background: var(--go); color: var(--on-go); }
button.yes:hover { background: var(--go-over); }
button.no { background: transparent; color: var(--no); border-color: var(--field); }
button.no:hover { background: var(--no-wash); border-color: var(--no); }
button.plain { min-height: 0; min-width: 0; padding: 0; font-weight: 400; background: none; color: var(--link); border: 0; text-decoration: underline 1px; text-underline-offset: .2em; }
.panel button { width: 100%; margin-top: 1rem; }
.panel p { margin-top: .5rem; }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
.notice { margin-top: 1rem; padding: .625rem .875rem; border-radius: 8px; background: var(--yes-wash); }
.crumb + .notice { margin: 0 0 1rem; }
.notice.no { background: var(--no-wash); color: var(--no); }
.badge { padding: .0625rem .5rem; border-radius: 6px; font-size: .8125rem; font-weight: 500; background: var(--open-wash); color: var(--open); }
.badge.yes { background: var(--yes-wash); color: var(--yes); }
.badge.no { background: var(--no-wash); color: var(--no); }
.decided > li { padding: .875rem 1.25rem; }
.decided > li + li { border-top: 1px solid var(--line); }
.decided p { font-size: .9375rem; margin-top: .125rem; }
.decided p.small { font-size: .875rem; }
.decided .head a { font-weight: 600; }
.story { margin: .75rem 0 1.125rem; padding-bottom: 1rem; border-bottom: 1px solid var(--line); }
.story li { color: var(--quiet); font-size: .9375rem; }
.note { padding-left: .75rem; border-left: 3px solid var(--line); white-space: pre-line; }
.story .note { margin-top: .5rem; }
.decided .note { margin: .375rem 0; }
@media (max-width: 32rem) {
  .card, .panel { padding: 1rem; }
  .decided > li { padding: .75rem 1rem; }
  dl { gap: .625rem 1rem; }
  dl > .long { grid-column: 1 / -1; }
  .buttons button { flex: 1; min-width: 0; }
}
`
