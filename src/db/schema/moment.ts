/**
 * A column of a moment in time.
 * @module
 */
import { timestamp } from '../drizzle.ts'

/** With its time zone, read as a Date. */
export const moment = (name: string) => timestamp(name, { withTimezone: true, mode: 'date' })
