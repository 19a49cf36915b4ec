/** How the kinds are served that owners are named by, as admission asks for it. */
import type { OwnerType } from '../admission/controls/owner-references-permission-enforcement.ts'
import type { Catalogue } from '../registry/catalogue.ts'

export function ownerTypesIn(catalogue: Catalogue) {
  return (apiVersion: string, kind: string): OwnerType | undefined => {
    const served = catalogue.all().find((one) => one.apiVersion === apiVersion && one.kind.kind === kind)
    if (served === undefined) return undefined
    const { group, plural } = served
    return { group, plural, version: served.kind.version, namespaced: served.kind.scope === 'Namespaced' }
  }
}
