/**
 * How the inbox looks: one column, the system's own type, light and dark.
 * @module
 */

/** Colours, type and what every page has. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --page: #f6f5f1; --card: #ffffff; --text: #1d2320; --quiet: #5a625d; --line: #e0ded6; --field: #858c87;
  --code: #f7f6f2; --link: #1a5d4f; --go: #1c6152; --go-over: #154c40; --on-go: #ffffff; --over: #f1efe9;
  --yes: #1c6152; --yes-wash: #e3f0ea; --no: #93301d; --no-wash: #f9e9e4; --open: #6e4d08; --open-wash: #f8efd9;
  --shade: 0 1px 2px rgb(29 35 32 / .04), 0 4px 16px rgb(29 35 32 / .05);
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #141716; --card: #1d2120; --text: #e8eae7; --quiet: #a4aca7; --line: #323835; --field: #7b847f;
    --code: #161a18; --link: #8ad0bd; --go: #86cdb9; --go-over: #a3dccb; --on-go: #10211c; --over: #272c2a;
    --yes: #8fd3bf; --yes-wash: #1c352e; --no: #f2a894; --no-wash: #3c241e; --open: #e6c77e; --open-wash: #38301a;
    --shade: none;
  }
}
* { box-sizing: border-box; }
[hidden] { display: none !important; }
body { margin: 0; background: var(--page); color: var(--text); font: 16px/1.5 system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif; overflow-wrap: anywhere; -webkit-text-size-adjust: 100%; }
header.top, main, footer { max-width: 48rem; margin: 0 auto; padding: 0 1.25rem; }
header.top { display: flex; flex-wrap: wrap; align-items: center; gap: .25rem 1.75rem; padding-top: .875rem; padding-bottom: .875rem; font-size: .9375rem; }
header.top ul, header.top form { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; align-items: center; }
header.top form { margin-left: auto; }
header.top ul a { display: inline-block; padding: .375rem 0; color: var(--quiet); text-decoration: none; }
header.top ul a:hover { color: var(--text); text-decoration: underline; }
header.top ul a[aria-current] { color: var(--text); font-weight: 600; box-shadow: inset 0 -2px var(--link); }
.who { color: var(--quiet); }
main { padding-top: 1rem; padding-bottom: 3rem; min-height: 60vh; }
main:focus { outline: none; }
footer { padding-top: 1rem; padding-bottom: 2rem; color: var(--quiet); font-size: .875rem; }
footer #extras { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; border-top: 1px solid var(--line); padding-top: 1rem; }
footer #keys { flex-basis: 100%; }
a { color: var(--link); text-underline-offset: .2em; text-decoration-thickness: 1px; }
.brand { color: var(--text); font-size: 1.0625rem; font-weight: 700; text-decoration: none; letter-spacing: -.015em; }
.skip { position: absolute; left: -100vw; top: .5rem; padding: .5rem 1rem; background: var(--card); border-radius: 8px; z-index: 1; }
.skip:focus { left: 1rem; }
h1, h2, h3, h4, p, ul, ol, dl, dd, pre, fieldset { margin: 0; padding: 0; }
ul, ol { list-style: none; }
h1 { font-size: 1.625rem; line-height: 1.25; font-weight: 650; letter-spacing: -.02em; }
h2 { font-size: 1rem; font-weight: 600; margin: 2rem 0 .75rem; }
h4, dt, label, legend { font-size: .875rem; font-weight: 500; color: var(--quiet); }
label { display: block; margin-bottom: .25rem; }
code, pre, kbd { font: .875rem/1.6 ui-monospace, 'SF Mono', Menlo, Consolas, monospace; }
kbd { padding: 0 .375rem; border: 1px solid var(--field); border-radius: 4px; font-size: .8125rem; margin-left: .5rem; }
.quiet { color: var(--quiet); font-weight: 400; }
.small { font-size: .875rem; }
.count { color: var(--quiet); font-weight: 400; margin-left: .25rem; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.titled { display: flex; justify-content: space-between; align-items: baseline; gap: 1rem; }
.crumb { margin-bottom: .75rem; font-size: .9375rem; }
.crumb p::before { content: '← '; color: var(--quiet); }
.narrow { max-width: 26rem; margin: 7vh auto 0; }
.narrow > * + * { margin-top: .75rem; }
.narrow > .panel { margin-top: 1.5rem; }
h1 + .quiet { margin-top: .25rem; }
.panel, .decided, .empty { background: var(--card); border: 1px solid var(--line); border-radius: 14px; box-shadow: var(--shade); }
.panel { padding: 1.5rem; }
.empty { padding: 2.75rem 1.25rem; color: var(--quiet); text-align: center; box-shadow: none; }
h1 ~ .empty, h1 ~ .cards, h1 ~ .decided { margin-top: 1.25rem; }
.next { margin-top: 1rem; font-size: .9375rem; }
input:not([type=radio]), textarea, select { width: 100%; min-height: 2.75rem; padding: .5rem .75rem; font: inherit; color: inherit; background: var(--card); border: 1px solid var(--field); border-radius: 8px; }
textarea { display: block; resize: vertical; field-sizing: content; min-height: 2.75rem; max-height: 16rem; }
.row { display: flex; flex-wrap: wrap; gap: .75rem; }
.row > div { flex: 1 1 8rem; min-width: 0; }
.buttons { display: flex; flex-wrap: wrap; align-items: center; gap: .75rem; margin-top: .875rem; }
.buttons a:not(.button) { padding: .5rem .25rem; font-size: .9375rem; }
button, .button { display: inline-block; min-height: 2.75rem; min-width: 8rem; padding: .5625rem 1.25rem; font: inherit; font-weight: 600; line-height: 1.5; text-align: center; text-decoration: none; border-radius: 8px; border: 1px solid var(--field); background: transparent; color: var(--text); cursor: pointer; }
button:hover, .button:hover { background: var(--over); }
button.yes { background: var(--go); color: var(--on-go); border-color: transparent; }
button.yes:hover { background: var(--go-over); }
button.no { color: var(--no); }
button.no:hover { background: var(--no-wash); border-color: var(--no); }
button:disabled { opacity: .5; cursor: default; }
button.plain { min-height: 0; min-width: 0; padding: .375rem 0; font-weight: 400; background: none; color: var(--link); border: 0; text-decoration: underline 1px; text-underline-offset: .2em; }
.panel button { width: 100%; margin-top: 1rem; }
.panel p { margin-top: .5rem; }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
.filter { margin-top: .5rem; }
.filter + section h2 { margin-top: 1.25rem; }
.filter summary { display: inline-block; padding: .25rem 0; color: var(--link); font-size: .9375rem; cursor: pointer; }
.filter summary::before { content: '+ '; }
.filter[open] summary::before { content: '− '; }
.filter form { margin-top: .5rem; padding: 1rem 1.25rem 1.25rem; background: var(--card); border: 1px solid var(--line); border-radius: 14px; }
.notice { margin-top: 1rem; padding: .75rem 1rem; border-radius: 10px; background: var(--yes-wash); }
.notice.no { background: var(--no-wash); color: var(--no); }
.notice ul { margin-top: .25rem; padding-left: 1.125rem; list-style: disc; }
.crumb + .notice { margin: 0 0 1rem; }
.badge { padding: .125rem .5625rem; border-radius: 999px; font-size: .8125rem; font-weight: 550; background: var(--open-wash); color: var(--open); white-space: nowrap; }
.badge.yes { background: var(--yes-wash); color: var(--yes); }
.badge.no { background: var(--no-wash); color: var(--no); }
@media (max-width: 34rem) {
  header.top, main, footer { padding-left: 1rem; padding-right: 1rem; }
  header.top nav { order: 1; flex-basis: 100%; }
  main { padding-top: .5rem; }
  .panel { padding: 1.125rem; }
}
@media (prefers-reduced-motion: no-preference) {
  .fresh { animation: arrive .6s ease-out; }
  @keyframes arrive { from { opacity: 0; transform: translateY(.5rem); } }
}
@media (forced-colors: active) {
  .badge, mark, .notice, .warning { border: 1px solid; }
}
`
