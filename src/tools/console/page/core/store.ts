/** Hooks for observable values, the current time and media queries. */
import { useEffect, useReducer, useState } from 'preact/hooks'
import type { Store } from './observable.ts'

/** Returns the value of a store. When the value changes, the component is rendered again. */
export function useStore<T>(store: Store<T>): T {
  const [, redraw] = useReducer((count: number) => count + 1, 0)
  useEffect(() => {
    // Render once after subscribing, because the value may have changed since the last render.
    redraw(undefined)
    return store.subscribe(() => redraw(undefined))
  }, [store])
  return store.value
}

/** Returns the current time, to compute ages. The component is rendered again at this interval in milliseconds. */
export function useNow(everyMs = 10_000): number {
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
  return now
}

/** Returns whether the page matches a media query. The component is rendered again when that changes. */
export function useMatchingMedia(query: string): boolean {
  const [matches, setMatches] = useState(() => matchMedia(query).matches)
  useEffect(() => {
    const media = matchMedia(query)
    const onChange = () => setMatches(media.matches)
    media.addEventListener('change', onChange)
    return () => media.removeEventListener('change', onChange)
  }, [query])
  return matches
}

/** The state of a request: waiting, done or failed. */
export type Asked<T> =
  | { readonly state: 'waiting' }
  | { readonly state: 'done'; readonly value: T }
  | { readonly state: 'failed'; readonly error: unknown }

/** Sends a request when the component mounts and whenever a dependency changes. */
export function useAsked<T>(ask: (signal: AbortSignal) => Promise<T>, depends: readonly unknown[]): Asked<T> {
  const [result, setAsked] = useState<Asked<T>>({ state: 'waiting' })
  useEffect(() => {
    const aborting = new AbortController()
    setAsked({ state: 'waiting' })
    ask(aborting.signal).then(
      (value) => aborting.signal.aborted || setAsked({ state: 'done', value }),
      (error: unknown) => aborting.signal.aborted || setAsked({ state: 'failed', error }),
    )
    return () => aborting.abort()
  }, depends as unknown[])
  return result
}
