/**
 * How tools, routines and traces look, besides what they share with cards.
 * @module
 */

/** Fields that differ, steps of a tool, and the sentence to confirm. */
export const WORK_STYLE = `
.fields { display: grid; gap: 1rem; margin-top: 1.125rem; }
.field { min-width: 0; }
.field h4 { margin: 0; }
.field h4 code { color: var(--text); font-weight: 600; }
.field pre { margin-top: .375rem; max-height: 24rem; overflow: auto; }
.badge.off { background: var(--over); color: var(--quiet); }
.decided h3 .quiet { margin-left: .25rem; }
.alarm { color: var(--no); }
.decided .head code, .card .head code { font-size: inherit; font-weight: 600; }
.decided .head h3 { margin: 0; font-size: .9375rem; color: var(--text); }
.decided .warning { margin-top: .5rem; padding: .5rem .75rem; }
.decided details { margin-top: .25rem; font-size: .9375rem; }
.decided details summary { color: var(--link); cursor: pointer; }
.steps .buttons { margin-top: .625rem; }
.steps button { min-width: 6rem; }
.cards > li > .card > .head .count { margin: 0 .25rem 0 0; }
.proof { margin-top: 1.125rem; }
.proof p { margin-top: .25rem; }
.proof code { overflow-wrap: anywhere; }
.card > p.note { margin-top: .875rem; }
.card > p.quiet.small { margin-top: 1rem; }
h1 + dl { padding-bottom: .25rem; }
.decide > input + p.quiet { margin-bottom: .875rem; }
.decide .choice + p { margin-top: .5rem; }
@media (max-width: 34rem) {
  header.top ul { row-gap: 0; }
}
.choice input[type=checkbox] { align-self: start; min-height: 0; margin-top: .25rem; }
`
