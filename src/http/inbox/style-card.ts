/**
 * How a card looks, waiting and decided.
 * @module
 */

/** Cards, their arguments, and the forms that decide them. */
export const CARD_STYLE = `
.card { background: var(--card); border: 1px solid var(--line); border-radius: 14px; box-shadow: var(--shade); padding: 1.375rem 1.5rem 1.5rem; }
.cards { display: grid; gap: 1.25rem; }
.cards > li { min-width: 0; }
.card:focus-within { border-color: var(--field); }
.card.moved { box-shadow: none; }
.card.moved > p { color: var(--quiet); margin-top: .25rem; }
.card h1 { font-size: 1.375rem; }
.card h3, .card .head h2 { font-size: 1.1875rem; line-height: 1.35; font-weight: 620; letter-spacing: -.01em; margin: 0; }
.card h3 a { color: inherit; text-decoration-color: var(--field); }
.card section h2 { font-size: .9375rem; margin: 0; }
.head { display: flex; flex-wrap: wrap; justify-content: space-between; align-items: baseline; gap: .125rem 1rem; }
.expiry { color: var(--quiet); font-size: .875rem; font-variant-numeric: tabular-nums; }
.expiry .soon { color: var(--no); font-weight: 600; }
.summary { margin-top: .375rem; font-size: 1.0625rem; }
.summary + .small { margin-top: .25rem; }
dl { display: grid; grid-template-columns: 1fr 1fr; gap: .75rem 1.5rem; margin-top: 1.125rem; }
dl > div { min-width: 0; }
dl > .wide { grid-column: 1 / -1; }
dd, pre, code, .summary, .note, mark { unicode-bidi: isolate; }
.arguments { margin-top: 1.125rem; }
pre { margin-top: .375rem; padding: .75rem 1rem; background: var(--code); border: 1px solid var(--line); border-radius: 10px; white-space: pre-wrap; }
pre.whole { max-height: 36rem; overflow: auto; }
pre .text { display: inline-block; vertical-align: top; max-width: 100%; padding-left: .625rem; border-left: 2px solid var(--line); }
.break, .more, .gap { color: var(--quiet); }
mark { border-radius: 3px; background: var(--no-wash); color: var(--no); }
mark.hidden { padding: 0 .25rem; border: 1px solid; font: 600 .75rem/1.4 system-ui, sans-serif; }
mark.twin { background: var(--open-wash); color: var(--open); text-decoration: underline wavy 1px; text-underline-offset: .2em; }
.warning { margin-top: 1rem; padding: .75rem 1rem; border-radius: 10px; background: var(--open-wash); color: var(--open); }
.warning h2 { color: inherit; }
.warning ul { padding-left: 1.125rem; list-style: disc; font-size: .9375rem; }
.warning li { margin-top: .25rem; }
.warning pre { color: var(--text); }
.diff span { display: block; }
.diff span span { display: inline; }
.diff .unseen { position: absolute; }
.diff .new { background: var(--yes-wash); color: var(--yes); }
.diff .gone { background: var(--no-wash); color: var(--no); }
.bindings { margin-top: 1.125rem; font-size: .9375rem; }
.bindings summary { color: var(--link); cursor: pointer; }
.bindings dl { margin-top: .75rem; }
.decide { margin-top: 1.25rem; padding-top: 1.25rem; border-top: 1px solid var(--line); }
.story + .decide { margin-top: 0; padding-top: 0; border-top: 0; }
.decide > input + .buttons { margin-top: 0; }
.decide h2 { font-size: 1rem; margin: 0 0 .25rem; }
.decide .notes { margin-top: 0; }
.scopes { border: 0; margin-bottom: 1.125rem; min-width: 0; }
.scopes legend { margin-bottom: .625rem; padding: 0; color: var(--text); font-size: 1rem; font-weight: 600; }
.choice { display: grid; grid-template-columns: auto 1fr; gap: 0 .625rem; padding: .375rem 0; align-items: baseline; }
.choice input { width: 1.125rem; height: 1.125rem; margin: 0; align-self: center; accent-color: var(--go); }
.choice label { margin: 0; color: var(--text); font-size: 1rem; cursor: pointer; }
.choice p { grid-column: 2; }
.similar { display: grid; gap: .75rem; margin: .375rem 0 0 1.75rem; padding: 1rem; background: var(--code); border-radius: 10px; }
.scopes:not(:has(#scope-similar:checked)) .similar { display: none; }
.decided > li { padding: 1rem 1.5rem; }
.decided > li + li { border-top: 1px solid var(--line); }
.decided p { font-size: .9375rem; margin-top: .125rem; }
.decided p.small { font-size: .875rem; }
.decided .head a { font-weight: 600; }
.story { margin: .875rem 0 1.125rem; padding-bottom: 1rem; border-bottom: 1px solid var(--line); }
.story li { color: var(--quiet); font-size: .9375rem; }
.note { padding-left: .75rem; border-left: 3px solid var(--line); white-space: pre-line; }
.story .note, .card > .note { margin-top: .5rem; }
.decided .note { margin: .375rem 0; }
@media (max-width: 34rem) {
  .card { padding: 1.125rem 1.125rem 1.25rem; }
  .decided > li { padding: .875rem 1.125rem; }
  dl { gap: .625rem 1rem; }
  dl > .long { grid-column: 1 / -1; }
  .buttons button, .buttons .button { flex: 1; min-width: 7rem; padding-left: .5rem; padding-right: .5rem; }
  .similar { margin-left: 0; }
}
`
