/**
 * Provides the types that a server would serve: built-in kinds, and kinds that CustomResourceDefinitions in the files
 * define. Objects get defaults and are converted between versions as in a server.
 */

import { loadPatternEngine } from '../../../../api/cel/pattern-engine.ts'
import type { CustomResourceDefinition } from '../../../../api/kinds/apiextensions/definition-fields.ts'
import { kindsOfVersion } from '../../../../api/kinds/of-version.ts'
import { ApiError } from '../../../../api/model/api-error.ts'
import type { StoredType } from '../../../../api/model/lookup.ts'
import { type ApiObject, asJson } from '../../../../api/model/object.ts'
import { apiVersionOf, type Vendor } from '../../../../api/model/vendor.ts'
import type { Kind } from '../../../../api/schema/kind.ts'
import { decodeStoredSliced, normalizeSliced } from '../../../../api/schema/normalize.ts'
import { validate } from '../../../../api/schema/validate.ts'
import { newestVersion } from '../../../../api/versions/emulated-version.ts'
import { withExpressionRules } from '../../../../apiserver/admission/policy/policy-faults.ts'
import { kindsOf } from '../../../../apiserver/custom/definitions/definition.ts'
import { isSameKind, serveKind } from '../../../../apiserver/registry/catalogue/served.ts'
import type { Version } from '../../../../apiserver/registry/reads/object-forms.ts'
import { TimeSlice } from '../../../../base/concurrency/time-slice.ts'
import { UsageError } from '../../../../base/flags/flags.ts'
import { type Manifest, placeName } from '../../manifests/manifest.ts'

/** A kind in one version, together with its other versions. */
export type OfflineType = Version & { readonly versions: readonly Version[] }

/** An object from a file after defaulting and conversion to the storage version. */
export interface OfflineObject {
  readonly type: OfflineType
  readonly object: ApiObject
}

const definitions = { group: 'apiextensions', kind: 'CustomResourceDefinition' }

export class OfflineTypes {
  readonly vendor: Vendor
  readonly #namespace: string
  readonly #types = new Map<string, OfflineType>()

  /** Creates the same types as a server. `namespace` is the default for objects without a namespace. */
  constructor(vendor: Vendor, namespace: string) {
    this.vendor = vendor
    this.#namespace = namespace
    const kinds = kindsOfVersion(newestVersion).filter(({ lifecycle }) => !lifecycle.virtual)
    for (const stored of kinds.filter(({ conversion }) => conversion === undefined)) {
      const others = kinds.filter(({ conversion }) => conversion !== undefined && isSameKind(conversion.stored, stored))
      this.#add([stored, ...others])
    }
  }

  /** Adds the kinds that the CustomResourceDefinitions among the objects define. */
  async addDefinitions(manifests: readonly Manifest[]): Promise<void> {
    for (const manifest of manifests) {
      const type = this.find(manifest.object.apiVersion, manifest.object.kind)
      if (type?.kind.group !== definitions.group || type.kind.kind !== definitions.kind) continue
      const { object } = await this.complete(manifest)
      const definition = object as CustomResourceDefinition
      const made = await kindsOf(definition, definition.spec?.names ?? {}, { vendor: this.vendor, convert: undefined })
      if (made.outcome === 'invalid')
        throw new UsageError(`${placeName(manifest.origin)}: ${made.faults[0]!.path}: ${made.faults[0]!.text}`)
      this.#add(made.kinds)
    }
  }

  find(apiVersion: string, kind: string): OfflineType | undefined {
    return this.#types.get(`${apiVersion} ${kind}`)
  }

  /** Returns the object with defaults, in the storage version. Throws UsageError for unknown kinds and fields. */
  async complete({ object, origin }: Manifest): Promise<OfflineObject> {
    const type = this.find(object.apiVersion, object.kind)
    if (type === undefined)
      throw new UsageError(
        `${placeName(origin)}: unknown kind ${object.kind} in ${object.apiVersion}: add the CustomResourceDefinition for this kind to the files`,
      )
    const timeSlice = new TimeSlice()
    const { object: read, unknown } = await timeSlice.run(normalizeSliced(type, asJson(object))).catch((error) => {
      throw error instanceof ApiError ? new UsageError(`${placeName(origin)}: ${error.message}`) : error
    })
    if (unknown.length > 0) throw new UsageError(`${placeName(origin)}: unknown field ${JSON.stringify(unknown[0])}`)
    const metadata = { ...read.metadata }
    if (type.kind.scope === 'Cluster') delete metadata.namespace
    else metadata.namespace ||= this.#namespace
    return { type, object: await timeSlice.run(decodeStoredSliced(type, { ...read, metadata })) }
  }

  /** Validates an object as a server would. Throws UsageError with the first error. */
  async check({ type, object }: OfflineObject, { origin }: Manifest): Promise<void> {
    const { kind, context } = type.stored ?? type
    const { rules } = withExpressionRules(kind, loadPatternEngine)
    const judging = { ...context, timeSlice: new TimeSlice(), faults: [], warn: () => {} }
    const [fault] = [
      ...validate(kind.schema, asJson(object), context),
      ...((await rules.judge?.(object, undefined, judging)) ?? []),
    ]
    if (fault !== undefined) throw new UsageError(`${placeName(origin)}: ${fault.path}: ${fault.text}`)
  }

  /** Adds a kind in all its versions. */
  #add(kinds: readonly Kind[]): void {
    const served = kinds.map((kind) => serveKind(kind, { vendor: this.vendor, version: newestVersion }, []))
    const [first] = served
    const storedVersion: Version | undefined = first && { ...first, stored: undefined }
    const versions = served.map((each) => ({ ...each, stored: each.kind.conversion && storedVersion }))
    for (const version of versions)
      this.#types.set(`${version.apiVersion} ${version.kind.kind}`, { ...version, versions })
  }
}

/** Returns the group and plural under which a server would store objects of this type. */
export function storedTypeOf({ kind, plural }: OfflineType): StoredType {
  return { group: kind.conversion?.stored.group ?? kind.group, plural }
}

/** Whether the object's API group is the group of admission policies. */
export function isPolicyPart(vendor: Vendor, { object }: Manifest): boolean {
  return (
    /^(?:Validating|Mutating)AdmissionPolicy(?:Binding)?$/.test(object.kind) &&
    object.apiVersion.startsWith(apiVersionOf(vendor, 'admissionregistration', ''))
  )
}
