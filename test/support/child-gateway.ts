/**
 * A gateway as a process of its own, for what only its output and its end can show. Configured by its environment, as
 * `npm start` is; prints `ready <ms>` once it serves, and stops on SIGTERM.
 */
import { serve } from '../../src/main.ts'

const began = performance.now()
const running = await serve(process.env)
console.log(`ready ${Math.round(performance.now() - began)}`)
process.once('SIGTERM', () => {
  void running.close().then(() => process.exit(0))
})
