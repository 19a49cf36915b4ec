/**
 * The domain suffix of a server's built-in API groups, such as `orch.io` or `k8s.io`. The suffix is requested from the
 * server on first use and then cached.
 */
import type { ObjectBase } from '../../api/model/object.ts'
import type { ReadOptions } from './options.ts'
import type { ResourceType } from './resource-type.ts'
import { TransportError } from './transport.ts'

type Read = <T>(path: string, options: ReadOptions) => Promise<T>

/**
 * Groups that every server has and whose names therefore reveal the server's domain. Both groups are checked, because
 * one of them could also be a custom group.
 */
const telling = ['authentication.', 'authorization.'] as const

/** Determines the domain of a server once. */
export class ServerDomain {
  readonly #read: Read
  #domain: string | undefined

  constructor(read: Read) {
    this.#read = read
  }

  /** Returns the type with the name of its API group on this server. */
  async resolve<T extends ObjectBase>(
    type: ResourceType<T>,
    signal: AbortSignal | undefined,
  ): Promise<ResourceType<T>> {
    this.#domain ??= await this.find(signal)
    return { ...type, group: `${type.group}.${this.#domain}` }
  }

  async find(signal: AbortSignal | undefined): Promise<string> {
    const { groups } = await this.#read<{ groups: readonly { readonly name: string }[] }>('/apis', { signal })
    const names = new Set(groups.map(({ name }) => name))
    const [first, second] = telling
    for (const name of names) {
      const domain = name.slice(first.length)
      if (name.startsWith(first) && names.has(`${second}${domain}`)) return domain
    }
    throw new TransportError('the server has no API groups with built-in kinds: is it an API server?')
  }
}
