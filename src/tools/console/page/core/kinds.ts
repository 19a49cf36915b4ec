/**
 * The kinds that the server serves, found by discovery. They are refreshed while the page is open, because custom
 * resource definitions can add and remove kinds. Each type is shown in the preferred version of its group.
 */
import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Client } from '../../../../client/library/client-browser.ts'
import { type DiscoveredType, discover } from '../../../../client/requests/discovery.ts'
import { Store } from './observable.ts'
import type { TypePlace } from './route.ts'
import { useStore } from './store.ts'

export type Type = DiscoveredType

export interface ServedKinds {
  readonly types: readonly Type[]
  /** Whether discovery has succeeded at least once. */
  readonly isLoaded: boolean
  readonly failures: readonly string[]
  /** The domain suffix of built-in API groups: `orch.io` or `k8s.io`. */
  readonly domain: string
}

/** The kinds that the server serves, kept up to date by `follow`. */
export class Kinds {
  readonly store = new Store<ServedKinds>({ types: [], isLoaded: false, failures: [], domain: '' })
  readonly #client: Client

  constructor(client: Client) {
    this.#client = client
  }

  async refresh(signal?: AbortSignal): Promise<void> {
    const { types, failures } = await discover(this.#client, { signal })
    const ops = types.find(({ group }) => group.startsWith('ops.'))?.group ?? ''
    const sorted = types.sort((a, b) => (a.plural < b.plural ? -1 : 1))
    this.store.set({ types: sorted, isLoaded: true, failures, domain: ops.slice('ops.'.length) })
  }

  /** Refreshes the kinds every minute, and whenever a page does not find its kind. */
  follow(signal: AbortSignal): void {
    const look = () => void this.refresh(signal).catch(() => {})
    look()
    const timer = setInterval(look, 60_000)
    signal.addEventListener('abort', () => clearInterval(timer))
  }

  /** Finds a type by group, version and plural name. In URLs, `core` is the name of the core group. */
  find({ group, version, plural }: TypePlace): Type | undefined {
    const name = group === 'core' ? '' : group
    const { types } = this.store.value
    const same = types.filter((type) => type.group === name && type.plural === plural)
    return same.find((type) => type.version === version) ?? same[0]
  }

  /** Finds a built-in type by its plural name and the first word of its group. */
  builtIn(plural: string, group: string): Type | undefined {
    const { types, domain } = this.store.value
    return types.find((type) => type.plural === plural && (type.group === group || type.group === `${group}.${domain}`))
  }

  /** Finds the type of an object by its apiVersion and kind. */
  ofObject(apiVersion: string, kind: string): Type | undefined {
    const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : ''
    return this.store.value.types.find((type) => type.group === group && type.kind === kind)
  }
}

export interface ConsoleContext {
  readonly client: Client
  readonly openSocket: (path: string, protocols: readonly string[]) => WebSocket
  readonly kinds: Kinds
}

export const ConsoleContextProvider = createContext<ConsoleContext | undefined>(undefined)

/** Returns the client and the served kinds. The component is rendered again when the kinds change. */
export function useConsoleContext(): ConsoleContext {
  const consoleContext = useContext(ConsoleContextProvider)
  if (consoleContext === undefined) throw new Error('rendered outside of a session')
  useStore(consoleContext.kinds.store)
  return consoleContext
}
