/**
 * Implements `orchctl top server`, which shows the load of the server: requests, watches, stored objects and process
 * resources.
 */

import { pause } from '../../../../base/concurrency/abort.ts'
import { flag } from '../../../../base/flags/flags.ts'
import type { Client } from '../../../../client/requests/client.ts'
import { withConnection } from '../../connection/connect.ts'
import { connectionFlags, readTime } from '../../connection/connection-flags.ts'
import { Columns } from '../../printers/columns.ts'
import { escapeLine } from '../../printers/escape.ts'
import { defineCommand, refuseWords } from '../../program/command.ts'

export const topServerCommand = defineCommand({
  name: 'top server',
  forms: ['[flags]'],
  about: `Show the server's load from its metrics: current requests and watches, requests per second, stored objects by
type, and the resource usage of its process.`,
  examples: ['orchctl top server', 'orchctl top server --interval=10s'],
  flags: {
    interval: flag({
      name: 'interval',
      value: 'TIME',
      default: '1s',
      read: readTime,
      help: 'time over which per-second rates are measured',
    }),
    ...connectionFlags,
  },
  run: async (context, { options, words }) => {
    refuseWords(words)
    await withConnection(context, options, async ({ client }) => {
      const before = await scrape(client, context.signal)
      const began = performance.now()
      await pause(options.interval, context.signal)
      context.signal.throwIfAborted()
      const after = await scrape(client, context.signal)
      context.out(report(before, after, (performance.now() - began) / 1000))
    })
  },
})

interface Sample {
  readonly labels: ReadonlyMap<string, string>
  readonly value: number
}

type Samples = ReadonlyMap<string, readonly Sample[]>

async function scrape(client: Client, signal: AbortSignal): Promise<Samples> {
  const { body } = await client.open({ method: 'GET', path: '/metrics', accept: 'text/plain', signal })
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of body) text += decoder.decode(chunk, { stream: true })
  const samples = new Map<string, Sample[]>()
  for (const line of text.split('\n')) {
    const [, name, labels = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)/.exec(line) ?? []
    if (name === undefined) continue
    const pairs = [...labels.matchAll(/\b(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key, text]) => [key!, text!] as const)
    const all = samples.get(name) ?? []
    all.push({ labels: new Map(pairs), value: Number(value) })
    samples.set(name, all)
  }
  return samples
}

function sum(samples: Samples, name: string): number | undefined {
  return samples.get(name)?.reduce((total, { value }) => total + value, 0)
}

const largestTypes = 10

function report(before: Samples, after: Samples, seconds: number): string {
  const rate = (name: string) => {
    const from = sum(before, name)
    const to = sum(after, name)
    return from === undefined || to === undefined ? undefined : (to - from) / seconds
  }
  const rows: (readonly [string, string | undefined])[] = [
    ['Requests in flight', text(sum(after, 'apiserver_current_inflight_requests'))],
    [
      'Active watches',
      text(sum(after, 'apiserver_longrunning_requests') ?? sum(after, 'apiserver_registered_watchers')),
    ],
    ['Requests per second', decimal(rate('apiserver_request_total'))],
    ['Requests in total', text(sum(after, 'apiserver_request_total'))],
    ['Watch events per second', decimal(rate('apiserver_watch_events_total'))],
    ['Stored objects', text(sum(after, 'apiserver_storage_objects'))],
    ['Processor', percent(rate('process_cpu_seconds_total'))],
    ['Memory', mebibytes(sum(after, 'process_resident_memory_bytes'))],
  ]
  const knownRows = rows.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
  return new Columns().lines([['SERVER', 'VALUE'], ...knownRows]) + types(after)
}

/** Formats a table of the resource types with the most stored objects. */
function types(samples: Samples): string {
  const counts = (samples.get('apiserver_storage_objects') ?? [])
    .filter(({ value }) => value > 0)
    .toSorted((a, b) => b.value - a.value)
    .slice(0, largestTypes)
  if (counts.length === 0) return ''
  const rows = counts.map(({ labels, value }) => [escapeLine(labels.get('resource') ?? ''), String(value)])
  return `\n${new Columns().lines([['TYPE', 'OBJECTS'], ...rows])}`
}

function text(value: number | undefined): string | undefined {
  return value === undefined ? undefined : String(value)
}

function decimal(value: number | undefined): string | undefined {
  return value?.toFixed(1)
}

function percent(value: number | undefined): string | undefined {
  return value === undefined ? undefined : `${(value * 100).toFixed(0)}% of a core`
}

function mebibytes(value: number | undefined): string | undefined {
  return value === undefined ? undefined : `${Math.round(value / 1024 ** 2)}Mi`
}
