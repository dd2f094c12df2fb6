/**
 * All that a connector file imports, besides `defineConnector` and zod.
 * @module
 */
export { defineConnector, each, GRANTABLE_READ } from '../define.ts'
export type { ToolFacts } from '../declaration.ts'
export { type Body, body, type Result, type Run } from './body.ts'
export { decimal } from './decimal.ts'
export { type Problem, Refusal, refusedBy } from './failure.ts'
export type { Http, Reply } from './http.ts'
export type { ConnectionKind } from './kind.ts'
export { type Path, path } from './path.ts'
export type { Values } from './values.ts'
