/**
 * Where the keys of a loop come from: an informer of a client, a cache of this server, or the clock. A source only says
 * which keys to look at; the loop reads the state itself.
 */

import type { ObjectBase } from '../../api/model/object.ts'
import { repeat, type TimerClock } from '../../base/time/clock.ts'
import type { Informer, ObjectChange } from '../informers/informer.ts'

/** Where the keys of a loop come from. */
export interface Source {
  /** Has to run before the keys mean anything. Several loops may share a feed; it is run once. */
  readonly feed?: Feed
  /** Adds keys from now on, by the clock where it waits. Returns a function that ends this. */
  readonly connect: (add: (key: string) => void, clock: TimerClock) => () => void
}

/** What runs while loops that share it do. */
export interface Feed {
  /** Runs until the signal aborts. */
  run(signal: AbortSignal): Promise<void>
  /** Resolves when the feed has everything that there was when it began. */
  readonly synced: Promise<unknown>
}

/** The keys of changed objects of an informer, unless `keysOf` maps a change to other keys. */
export function fromInformer<T extends ObjectBase>(
  informer: Informer<T>,
  keysOf: (change: ObjectChange<T>) => Iterable<string> = ({ key }) => [key],
): Source {
  return {
    feed: informer,
    connect: (add) =>
      informer.onChange((change) => {
        for (const key of keysOf(change)) add(key)
      }),
  }
}

/** The keys of another source, each after a pause in which its further changes are gathered. */
export function batched({ connect, ...source }: Source, pauseMs: (key: string) => number): Source {
  return {
    ...source,
    connect: (add, clock) => {
      const waiting = new Map<string, () => void>()
      const addLater = (key: string) => {
        const ms = pauseMs(key)
        if (ms <= 0) return add(key)
        if (waiting.has(key)) return
        const run = () => {
          waiting.delete(key)
          add(key)
        }
        waiting.set(key, clock.after(ms, run))
      }
      const disconnect = connect(addLater, clock)
      return () => {
        disconnect()
        for (const cancel of waiting.values()) cancel()
      }
    },
  }
}

/** What is needed of a cache of objects in this process. */
export interface FollowedCache {
  /** All keys start with it. */
  readonly prefix: string
  all(): Iterable<{ readonly key: string }>
  /** Calls the listener with the key of a changed object, or with undefined where any may have changed. */
  onChange(listener: (key: string | undefined) => void): () => void
}

export interface CacheSourceOptions {
  /** The keys that a changed object concerns: its own, `name` or `namespace/name`, unless this says otherwise. */
  readonly keysOf?: (key: string) => Iterable<string>
  /** Objects to look at beside those in the cache whenever all of them are, such as those that should exist. */
  readonly expected?: () => Iterable<string>
}

/** The keys of all objects in a loaded cache of this server, and then of those that change. */
export function fromCache(
  cache: FollowedCache,
  { keysOf = (key) => [key], expected = () => [] }: CacheSourceOptions = {},
): Source {
  return {
    connect: (add) => {
      const addKeys = (key: string) => {
        for (const each of keysOf(key)) add(each)
      }
      const addAll = () => {
        for (const { key } of [...cache.all()]) addKeys(key.slice(cache.prefix.length))
        for (const key of [...expected()]) addKeys(key)
      }
      const disconnect = cache.onChange((key) =>
        key === undefined ? addAll() : addKeys(key.slice(cache.prefix.length)),
      )
      addAll()
      return disconnect
    },
  }
}

/** These keys once, when the loop starts. */
export function atStart(...keys: readonly string[]): Source {
  return {
    connect: (add) => {
      for (const key of keys) add(key)
      return () => {}
    },
  }
}

/** One key when the loop starts and then every so many milliseconds, for a loop that looks after one thing. */
export function every(ms: number, key: string): Source {
  return everyOf(ms, () => [key])
}

/** The keys that there are, when the loop starts and then every so many milliseconds. */
export function everyOf(ms: number, keys: () => Iterable<string>): Source {
  return {
    connect: (add, clock) => {
      const addAll = () => {
        for (const key of keys()) add(key)
      }
      addAll()
      return repeat(clock, ms, addAll)
    },
  }
}
