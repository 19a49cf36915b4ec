/** The watchers of one kind, by namespace. */
import type { CacheEvent } from './event.ts'
import type { Selection, Watcher } from './watcher.ts'

/** The key of watchers that watch all namespaces. */
const allNamespaces = ''

export class Watchers {
  readonly #byScope = new Map<string, Set<Watcher>>()

  get size(): number {
    return this.#byScope.values().reduce((sum, { size }) => sum + size, 0)
  }

  /** Returns the number of watchers of a namespace, including watchers of all namespaces. */
  sizeOf(namespace: string): number {
    const ofAll = this.#byScope.get(allNamespaces)?.size ?? 0
    return namespace === '' ? ofAll : ofAll + (this.#byScope.get(namespace)?.size ?? 0)
  }

  add(watcher: Watcher): void {
    const scope = scopeOf(watcher)
    const watchers = this.#byScope.get(scope) ?? new Set()
    this.#byScope.set(scope, watchers.add(watcher))
  }

  delete(watcher: Watcher): void {
    const scope = scopeOf(watcher)
    const watchers = this.#byScope.get(scope)
    watchers?.delete(watcher)
    if (watchers?.size === 0) this.#byScope.delete(scope)
  }

  /** Sends an event to every watcher whose selection covers it. */
  notify(event: CacheEvent): void {
    const { namespace } = event.object
    this.#notifyScope(allNamespaces, event)
    if (namespace !== '') this.#notifyScope(namespace, event)
  }

  #notifyScope(scope: string, event: CacheEvent): void {
    for (const watcher of this.#byScope.get(scope) ?? []) if (concerns(event, watcher.selection)) watcher.push(event)
  }

  /** Ends every watch after it has sent all current events. */
  finish(): void {
    for (const watcher of this.#all()) watcher.finish()
  }

  /** Ends every watch immediately. */
  close(): void {
    for (const watcher of this.#all()) watcher.close()
  }

  /** Returns a copy of the watchers, because watchers that end are removed from the map. */
  #all(): Watcher[] {
    return [...this.#byScope.values()].flatMap((watchers) => [...watchers])
  }
}

function scopeOf({ selection }: Watcher): string {
  return selection.namespace ?? allNamespaces
}

/** Whether the selection covers the namespace and the name of the event's object. Labels are not compared. */
export function concerns(event: CacheEvent, { namespace, name }: Selection): boolean {
  return (
    (namespace === undefined || event.object.namespace === namespace) &&
    (name === undefined || event.object.name === name)
  )
}
