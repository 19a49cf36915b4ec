/** Looks up served types for admission: owner references and the resources in webhook rules. */
import type { OwnerType } from '../../apiserver/admission/controls/owner-references-permission-enforcement.ts'
import type { FindParameterType } from '../../apiserver/admission/policy/parameters.ts'
import type { ServedResource } from '../../apiserver/admission/webhook/configuration-warnings.ts'
import type { Catalogue } from '../../apiserver/registry/catalogue/catalogue.ts'

/** Returns a function that looks up the resource type of an owner reference by apiVersion and kind. */
export function ownerTypesIn(catalogue: Catalogue) {
  return (apiVersion: string, kind: string): OwnerType | undefined => {
    const servedType = catalogue.all().find((one) => one.apiVersion === apiVersion && one.kind.kind === kind)
    if (servedType === undefined) return undefined
    const { group, plural } = servedType
    return { group, plural, version: servedType.kind.version, namespaced: servedType.kind.scope === 'Namespaced' }
  }
}

/** Returns a function that looks up the resource type of policy parameters by apiVersion and kind. */
export function parameterTypesIn(catalogue: Catalogue): FindParameterType {
  return (apiVersion, name) => {
    const servedType = catalogue.all().find((one) => one.apiVersion === apiVersion && one.kind.kind === name)
    if (servedType === undefined) return undefined
    const stored = { group: servedType.kind.group, plural: servedType.plural }
    if (catalogue.stored(stored.group, stored.plural) === undefined) return undefined
    return { stored, group: servedType.group, namespaced: servedType.kind.scope === 'Namespaced' }
  }
}

/** Returns a function that lists the served types, against which the rules of webhooks are checked. */
export function servedTypesIn(catalogue: Catalogue) {
  return (): ServedResource[] =>
    catalogue.all().map(({ group, plural, kind, subresources }) => ({
      group,
      version: kind.version,
      resource: plural,
      namespaced: kind.scope === 'Namespaced',
      subresources: [...subresources.keys()],
    }))
}
