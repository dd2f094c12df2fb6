/**
 * The gateway itself, started as `serve` starts it, from its environment.
 * @module
 */
import { serve } from '../../../src/main.ts'
import { ready } from './child.ts'

const running = await serve(process.env)
await running.settled(10_000)
ready({ origin: running.url }, () => running.close())
