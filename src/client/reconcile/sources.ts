/**
 * Sources of a loop's keys: an informer of a client, a cache of this server, or a timer. A source only provides keys.
 * The loop reads the objects itself.
 */

import type { ObjectBase } from '../../api/model/object.ts'
import { repeat, type TimerClock } from '../../base/time/clock.ts'
import type { Informer, ObjectChange } from '../informers/informer.ts'

/** A source of keys for a loop. */
export interface Source {
  /** The feed that must be synced before keys are processed. A feed that several loops share runs only once. */
  readonly feed?: Feed
  /** Starts adding keys. Timed sources use the clock. Returns a function that stops the source. */
  readonly connect: (add: (key: string) => void, clock: TimerClock) => () => void
}

/** Background work, such as an informer, that provides data for sources. Several loops can share it. */
export interface Feed {
  /** Runs the feed until the signal aborts. */
  run(signal: AbortSignal): Promise<void>
  /** Resolves when the feed has loaded all objects that existed at its start. */
  readonly synced: Promise<unknown>
}

/** Returns a source for the keys of an informer's changed objects. `keysOf` can map a change to other keys. */
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

/**
 * Returns a source that waits after each key, so that further changes to the object are processed together with the
 * first.
 */
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

/** The part of this server's object caches that sources use. */
export interface FollowedCache {
  /** Prefix of all keys in the cache. */
  readonly prefix: string
  /** Whether the cache is still being loaded and therefore does not contain all objects yet. */
  readonly isLoading?: boolean
  all(): Iterable<{ readonly key: string }>
  /** Calls the listener with the key of a changed object, or with undefined if any object may have changed. */
  onChange(listener: (key: string | undefined) => void): () => void
}

export interface CacheSourceOptions {
  /** Maps a changed object to keys. Defaults to the object's own key, `name` or `namespace/name`. */
  readonly keysOf?: (key: string) => Iterable<string>
  /** Returns keys of objects that should exist. The loop processes these keys even if the objects are missing. */
  readonly expected?: () => Iterable<string>
}

/**
 * Returns a source for the keys of all objects in a loaded cache of this server, followed by the keys of changed
 * objects.
 */
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
        // A cache that is still loading reports all of its objects as changed once the cache is complete.
        if (!cache.isLoading) for (const { key } of [...cache.all()]) addKeys(key.slice(cache.prefix.length))
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

/** Returns a source that adds the given keys once, when the loop starts. */
export function atStart(...keys: readonly string[]): Source {
  return {
    connect: (add) => {
      for (const key of keys) add(key)
      return () => {}
    },
  }
}

/** Returns a source that adds one key when the loop starts and then at an interval in milliseconds. */
export function every(ms: number, key: string): Source {
  return everyOf(ms, () => [key])
}

/** Returns a source that adds the current keys when the loop starts and then at an interval in milliseconds. */
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
