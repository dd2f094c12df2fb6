/**
 * What can be counted without knowing whom: calls by code and access, their time, open streams. Labels come from closed lists.
 * @module
 */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { Code } from './policy/words.ts'

export interface Metrics {
  readonly registry: Registry
  observe(code: Code | 'ok', access: string, seconds: number): void
  /** So many tools of upstreams changed, are new, are as they were accepted again, or were accepted. */
  observeTools(kind: 'changed' | 'new' | 'back' | 'accepted', count: number): void
}

/** Builds the metrics of one process. `streams` is read when they are scraped. */
export function createMetrics(streams: () => number): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const calls = new Counter({
    name: 'tollgate_calls_total',
    help: 'Ended tools/call attempts by code and access of the tool.',
    labelNames: ['code', 'access'],
    registers: [registry],
  })
  const time = new Histogram({
    name: 'tollgate_call_seconds',
    help: 'From the arrival of a call to its answer, waiting for a person included.',
    labelNames: ['access'],
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 60, 300],
    registers: [registry],
  })
  new Gauge({
    name: 'tollgate_open_streams',
    help: 'Open streams of notices.',
    registers: [registry],
    collect() {
      this.set(streams())
    },
  })
  const tools = new Counter({
    name: 'tollgate_tool_changes_total',
    help: "Changes of upstreams' tools: changed or new (closed), back as accepted, accepted by a person.",
    labelNames: ['kind'],
    registers: [registry],
  })
  // Looked up by text: finding a child by its labels costs more than counting.
  const counts = new Map<string, Counter.Internal>()
  const times = new Map<string, Histogram.Internal<'access'>>()
  return {
    registry,
    observeTools: (kind, count) => tools.inc({ kind }, count),
    observe(code, access, seconds) {
      child(counts, `${code} ${access}`, () => calls.labels({ code, access })).inc()
      child(times, access, () => time.labels({ access })).observe(seconds)
    },
  }
}

function child<T>(known: Map<string, T>, key: string, make: () => T): T {
  const kept = known.get(key)
  if (kept !== undefined) return kept
  const made = make()
  known.set(key, made)
  return made
}
