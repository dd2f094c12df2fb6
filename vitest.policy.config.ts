import { defineConfig } from 'vitest/config'

/** The tests that judge the policy room, for `npm run mutate`: fewer random cases, since each mutant runs them all. */
export default defineConfig({
  test: {
    include: ['test/policy/*.test.ts', 'test/catalogue/presets.test.ts', 'test/config/file.test.ts'],
    env: { POLICY_RUNS: '150', ORACLE_RUNS: '150' },
    testTimeout: 60_000,
  },
})
