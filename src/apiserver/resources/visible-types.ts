/** Finds the stored types whose objects a caller may list, for endpoints that report on objects of many types. */

import type { User } from '../../api/model/user.ts'
import type { Access } from '../authz/access.ts'
import type { Resource, ServedType } from '../registry/catalogue/resource.ts'

export interface VisibleTypesParts {
  readonly access: () => Access
  /** Returns all served types. */
  readonly served: () => readonly ServedType[]
}

/** Returns one version of each stored kind. */
export function storedTypes({ served }: VisibleTypesParts): Resource[] {
  const stored = served().flatMap((type) => (type.endpoint === undefined ? [type.stored ?? type] : []))
  return [...new Map(stored.map((resource) => [`${resource.kind.group}/${resource.plural}`, resource])).values()]
}

/** Checks which types a caller may list. Decisions are cached by type and namespace. */
export class VisibleTypes {
  readonly #parts: VisibleTypesParts
  readonly #user: User
  readonly #allowed = new Map<string, boolean>()
  /** The types whose objects the caller may not list. */
  readonly hidden = new Set<string>()

  constructor(parts: VisibleTypesParts, user: User) {
    this.#parts = parts
    this.#user = user
  }

  async mayList(resource: Resource, namespace: string): Promise<boolean> {
    const { group, plural } = resource
    const key = `${group}/${plural} ${namespace}`
    const cachedAnswer = this.#allowed.get(key)
    if (cachedAnswer !== undefined) return cachedAnswer
    const may =
      (await this.may(resource, { verb: 'list', namespace: '', name: '' })) ||
      (namespace !== '' && (await this.may(resource, { verb: 'list', namespace, name: '' })))
    this.#allowed.set(key, may)
    if (!may) this.hidden.add(group === '' ? plural : `${plural}.${group}`)
    return may
  }

  async may(
    { group, plural, kind }: Resource,
    place: { readonly verb: 'get' | 'list'; readonly namespace: string; readonly name: string },
  ): Promise<boolean> {
    const attributes = { resource: true, group, version: kind.version, plural, subresource: '', ...place } as const
    const { authorizer } = this.#parts.access()
    const decision = await authorizer({ user: this.#user, attributes })
    return decision.verdict === 'allow'
  }
}
