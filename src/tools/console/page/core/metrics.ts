/** Reads `/metrics` every few seconds for pages that show metrics, and retains earlier samples for charts. */
import { useEffect, useState } from 'preact/hooks'
import { useConsoleContext } from './kinds.ts'
import { Store } from './observable.ts'
import { useStore } from './store.ts'

export interface Sample {
  readonly labels: { readonly [name: string]: string }
  readonly value: number
}

export interface Scrape {
  /** Time of the scrape in milliseconds. */
  readonly time: number
  readonly samples: ReadonlyMap<string, readonly Sample[]>
}

export interface Scrapes {
  /** The samples of each read, oldest first. */
  readonly scrapes: readonly Scrape[]
  readonly error: unknown
}

const everyMs = 2_000
const maxScrapes = 90

function parseMetrics(text: string, metricNames: ReadonlySet<string>): Map<string, Sample[]> {
  const samples = new Map<string, Sample[]>()
  for (const line of text.split('\n')) {
    const end = line.search(/[{ ]/)
    if (line.startsWith('#') || end < 0) continue
    const name = line.slice(0, end)
    if (!metricNames.has(name)) continue
    const [, labels = '', value = ''] = /^[^{ ]+(?:\{(.*)\})? (\S+)/.exec(line) ?? []
    const list = samples.get(name) ?? []
    list.push({ labels: readLabels(labels), value: Number(value) })
    samples.set(name, list)
  }
  return samples
}

function readLabels(text: string): { [name: string]: string } {
  return Object.fromEntries(
    [...text.matchAll(/\b(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, name = '', value = '']) => [name, value]),
  )
}

/** Reads the named metrics periodically while the component is shown. */
export function useMetrics(metricNames: ReadonlySet<string>): Scrapes {
  const { client } = useConsoleContext()
  const [store] = useState(() => new Store<Scrapes>({ scrapes: [], error: undefined }))
  useEffect(() => {
    const aborting = new AbortController()
    const look = async () => {
      try {
        const { body } = await client.open({
          method: 'GET',
          path: '/metrics',
          accept: 'text/plain',
          signal: aborting.signal,
        })
        const decoder = new TextDecoder()
        let text = ''
        for await (const chunk of body) text += decoder.decode(chunk, { stream: true })
        const scrape = { time: performance.now(), samples: parseMetrics(text, metricNames) }
        store.set({ scrapes: [...store.value.scrapes, scrape].slice(-maxScrapes), error: undefined })
      } catch (error) {
        if (!aborting.signal.aborted) store.set({ ...store.value, error })
      }
    }
    void look()
    const timer = setInterval(() => void look(), everyMs)
    return () => {
      clearInterval(timer)
      aborting.abort()
    }
  }, [client])
  return useStore(store)
}

type Which = (labels: Sample['labels']) => boolean

/** Returns the sum of all matching samples of a metric. */
export function sumOf({ samples }: Scrape, name: string, which: Which = () => true): number {
  return (samples.get(name) ?? []).reduce((sum, { labels, value }) => (which(labels) ? sum + value : sum), 0)
}

/** Returns the per-second growth of a counter between consecutive scrapes. */
export function rates(scrapes: readonly Scrape[], name: string, which?: Which): number[] {
  return scrapes.slice(1).map((scrape, i) => {
    const before = scrapes[i]!
    const grown = sumOf(scrape, name, which) - sumOf(before, name, which)
    return Math.max(0, grown) / Math.max(0.001, (scrape.time - before.time) / 1000)
  })
}

/**
 * Returns a quantile of a histogram between consecutive scrapes, in the unit of the histogram, or 0 if there were no
 * observations.
 */
export function quantiles(scrapes: readonly Scrape[], name: string, part: number): number[] {
  return scrapes.slice(1).map((scrape, i) => quantile(scrapes[i]!, scrape, { name: `${name}_bucket`, part }))
}

function quantile(before: Scrape, after: Scrape, { name, part }: { name: string; part: number }): number {
  const counts = new Map<number, number>()
  for (const [scrape, sign] of [[after, 1] as const, [before, -1] as const])
    for (const { labels, value } of scrape.samples.get(name) ?? []) {
      const bound = labels.le === '+Inf' ? Number.POSITIVE_INFINITY : Number(labels.le)
      counts.set(bound, (counts.get(bound) ?? 0) + sign * value)
    }
  const bounds = [...counts].sort(([a], [b]) => a - b)
  const total = bounds.at(-1)?.[1] ?? 0
  if (total <= 0) return 0
  let lower = 0
  let below = 0
  for (const [bound, count] of bounds) {
    if (count >= part * total) {
      if (!Number.isFinite(bound)) return lower
      return lower + (bound - lower) * ((part * total - below) / Math.max(1, count - below))
    }
    lower = bound
    below = count
  }
  return lower
}
