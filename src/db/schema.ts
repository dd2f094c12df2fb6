/**
 * The tables of migrations/ as drizzle sees them. Each is written by one room only, named above it.
 * JSON is kept as text: what a caller sent must come back letter for letter, and jsonb refuses \u0000.
 * @module
 */
export * from './schema/approvals.ts'
export * from './schema/grants.ts'
export * from './schema/records.ts'
export * from './schema/session.ts'
