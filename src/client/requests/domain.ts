/**
 * The domain that ends the groups of a server's built-in kinds: `orch.io`, `k8s.io` or another. The server is asked for
 * its groups when the domain is first needed, and then no more.
 */
import type { ObjectBase } from '../../api/model/object.ts'
import type { ReadOptions } from './options.ts'
import type { ResourceType } from './resource-type.ts'
import { TransportError } from './transport.ts'

type Read = <T>(path: string, options: ReadOptions) => Promise<T>

/** Groups that every server has. Custom kinds may be in a group that is called like one of them, but not like both. */
const telling = ['authentication.', 'authorization.'] as const

/** Finds the domain of a server, once. */
export class ServerDomain {
  readonly #read: Read
  #domain: string | undefined

  constructor(read: Read) {
    this.#read = read
  }

  /** The type under the name that its group has on this server. */
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
    throw new TransportError('the server has no groups of built-in kinds: is it an API server?')
  }
}
