/**
 * Types as clients see them: their API names, verbs and subresources. Discovery, OpenAPI, authorization and dispatch
 * use only this interface, so stored types (`Resource`) and virtual types (`Virtual`) are treated in the same way.
 */

import { type ApiObject, asObject } from '../../../api/model/object.ts'
import { apiVersionOf, groupName, type Vendor } from '../../../api/model/vendor.ts'
import { allVerbs, type Verb } from '../../../api/model/verb.ts'
import type { RuleContext } from '../../../api/schema/context.ts'
import { decode } from '../../../api/schema/decode.ts'
import type { Kind } from '../../../api/schema/kind.ts'
import { derivation } from '../../../api/schema/of-version.ts'
import { exists } from '../../../api/versions/availability.ts'
import { type EmulatedVersion, oldestVersion } from '../../../api/versions/emulated-version.ts'
import type { Gates } from '../../../api/versions/feature-gates.ts'
import type { Clock } from '../../../base/time/clock.ts'
import type { Endpoint } from './endpoint.ts'

/** A type as clients see it, either stored or virtual. */
export interface Served {
  readonly vendor: Vendor
  readonly kind: Kind
  /** The API group as written in URLs. Empty for the core group. */
  readonly group: string
  readonly plural: string
  readonly apiVersion: string
  /** Whether the type supports Protobuf. Custom kinds and a few built-in kinds do not. */
  readonly hasProtobuf: boolean
  readonly verbs: readonly Verb[]
  readonly subresources: ReadonlyMap<string, ServedSubresource>
  readonly context: RuleContext
  /**
   * An empty object of the type. A create computes field ownership by comparing the new object with this empty object.
   */
  readonly empty: ApiObject
  /** Handles requests for a type that is not stored. */
  readonly endpoint: Endpoint | undefined
}

/** A type that is not stored, such as a review. A request for such a type has no effect other than its response. */
export interface Virtual extends Served {
  readonly endpoint: Endpoint
  readonly clock: Clock
  readonly stored: undefined
}

/**
 * Returns the origin of a type: built-in, or defined by a CustomResourceDefinition. A view such as Scale has the origin
 * of the type that it shows.
 */
export function originOf({ kind, stored }: Served & { readonly stored: Served | undefined }): Kind['origin'] {
  return (stored?.kind ?? kind).origin
}

/** A subresource with its API names and verbs. */
export interface ServedSubresource {
  readonly verbs: readonly Verb[]
  /** The kind of the request and response bodies. Undefined if it is the parent kind. */
  readonly type: Kind | undefined
  /** Handles requests for a subresource. Undefined for a view such as `scale`, which shows the stored object. */
  readonly endpoint: Endpoint | undefined
}

/** Settings that affect how kinds are served. */
export interface ServingFor {
  readonly vendor: Vendor
  readonly gates?: Gates | undefined
  /** The emulated Kubernetes version. Defaults to the oldest supported version. */
  readonly version?: EmulatedVersion | undefined
}

/**
 * Returns the served type for the definition of a kind. `endpoints` contains all endpoints of the kind and its
 * subresources.
 */
export function serveKind(
  kind: Kind,
  { vendor, gates, version = oldestVersion }: ServingFor,
  endpoints: readonly Endpoint[],
): Served {
  const apiVersion = apiVersionOf(vendor, kind.group, kind.version)
  const own = endpoints.filter((endpoint) => isSameKind(endpoint.kind, kind) && exists(endpoint, version))
  return {
    vendor,
    kind,
    group: groupName(vendor, kind.group),
    plural: kind.plural,
    apiVersion,
    hasProtobuf: kind.origin === 'built-in' && kind.lifecycle.jsonOnly !== true,
    verbs: kind.lifecycle.verbs ?? allVerbs,
    subresources: new Map([...viewsOf(kind), ...actionsOf(own, version)]),
    context: { vendor, subresource: '', ...(gates && { gates }), version, through: `${kind.group}/${kind.version}` },
    empty: asObject(decode(kind.schema, { apiVersion, kind: kind.kind }).value),
    endpoint: own.find(({ subresource }) => subresource === ''),
  }
}

function viewsOf({ views }: Kind): [string, ServedSubresource][] {
  return Object.entries(views.subresources ?? {}).map(([name, { verbs, as }]) => [
    name,
    { verbs, type: as?.kind, endpoint: undefined },
  ])
}

/**
 * Whether two definitions describe the same API version of the same kind. The definitions may be for different
 * Kubernetes versions.
 */
export function isSameKind(a: Kind, b: Kind): boolean {
  return a === b || (a.kind === b.kind && a.group === b.group && a.version === b.version && a.origin === b.origin)
}

function actionsOf(endpoints: readonly Endpoint[], version: EmulatedVersion): [string, ServedSubresource][] {
  return endpoints
    .filter(({ subresource }) => subresource !== '')
    .map((endpoint) => [
      endpoint.subresource,
      { verbs: endpoint.verbs, type: endpoint.type && derivation(version).kind(endpoint.type), endpoint },
    ])
}
