import { defineConfig } from 'vitest/config'

const slow = [
  'test/postgres/**/*.test.ts',
  'test/clients/**/*.test.ts',
  'test/process/**/*.test.ts',
  'test/browser/**/*.test.ts',
]
/** The fast tests run on PGlite, or on a PostgreSQL that is started for the run. */
const onPostgres = process.env.TOLLGATE_TEST_DATABASE === 'postgres'
const globalSetup = 'test/support/postgres.ts'

export default defineConfig({
  test: {
    testTimeout: 20_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
    // Some tests kill databases and race clocks; at the gate one such accident is tried again, and shown as a retry.
    retry: process.env.CI === 'true' ? 1 : 0,
    projects: [
      {
        extends: true,
        test: { name: 'fast', include: ['test/**/*.test.ts'], exclude: slow, ...(onPostgres && { globalSetup }) },
      },
      { extends: true, test: { name: 'slow', include: slow, testTimeout: 60_000, globalSetup } },
    ],
  },
})
