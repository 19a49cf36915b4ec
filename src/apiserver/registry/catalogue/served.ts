/**
 * A type of object as clients find it: its place on the wire, its verbs and its sub-resources. Discovery, OpenAPI,
 * authorization and dispatch read this alone, so what is stored (`Resource`) and what is only answered (`Virtual`) look
 * the same to them.
 */

import type { Gates } from '../../../api/model/feature-gates.ts'
import { type ApiObject, asObject } from '../../../api/model/object.ts'
import { apiVersionOf, groupName, type Vendor } from '../../../api/model/vendor.ts'
import { allVerbs, type Verb } from '../../../api/model/verb.ts'
import type { RuleContext } from '../../../api/schema/context.ts'
import { decode } from '../../../api/schema/decode.ts'
import type { Kind } from '../../../api/schema/kind.ts'
import type { Clock } from '../../../base/time/clock.ts'
import type { Endpoint } from './endpoint.ts'

/** A type as clients see it. */
export interface Served {
  readonly vendor: Vendor
  readonly kind: Kind
  /** The group on the wire: '' for the core group. */
  readonly group: string
  readonly plural: string
  readonly apiVersion: string
  /** Whether there is a Protobuf form: kinds that users define have none. */
  readonly hasProtobuf: boolean
  readonly verbs: readonly Verb[]
  readonly subresources: ReadonlyMap<string, ServedSubresource>
  readonly context: RuleContext
  /** The object before it exists: what a create is compared with. */
  readonly empty: ApiObject
  /** Answers for a type that is not stored. */
  readonly endpoint: Endpoint | undefined
}

/** A type that is not stored: its objects are questions, and the answer is all there is. */
export interface Virtual extends Served {
  readonly endpoint: Endpoint
  readonly clock: Clock
  readonly stored: undefined
}

/** Who has defined a type; of a view, such as Scale, what it shows counts. */
export function originOf({ kind, stored }: Served & { readonly stored: Served | undefined }): Kind['origin'] {
  return (stored?.kind ?? kind).origin
}

/** A sub-resource as clients see it. */
export interface ServedSubresource {
  readonly verbs: readonly Verb[]
  /** What is sent and answered, where that is not the kind itself. */
  readonly type: Kind | undefined
  /** Who answers, where it is not a view of the stored object. */
  readonly endpoint: Endpoint | undefined
}

/** Whom it is served for. */
export interface ServingFor {
  readonly vendor: Vendor
  readonly gates?: Gates | undefined
}

/** What the definition of a kind says of its serving; `endpoints` are all that answer for it or its sub-resources. */
export function serveKind(kind: Kind, { vendor, gates }: ServingFor, endpoints: readonly Endpoint[]): Served {
  const apiVersion = apiVersionOf(vendor, kind.group, kind.version)
  const own = endpoints.filter((endpoint) => endpoint.kind === kind)
  return {
    vendor,
    kind,
    group: groupName(vendor, kind.group),
    plural: kind.plural,
    apiVersion,
    hasProtobuf: kind.origin === 'built-in',
    verbs: kind.life.verbs ?? allVerbs,
    subresources: new Map([...viewsOf(kind), ...actionsOf(own)]),
    context: { vendor, subresource: '', ...(gates && { gates }), through: `${kind.group}/${kind.version}` },
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

function actionsOf(endpoints: readonly Endpoint[]): [string, ServedSubresource][] {
  return endpoints
    .filter(({ subresource }) => subresource !== '')
    .map((endpoint) => [endpoint.subresource, { verbs: endpoint.verbs, type: endpoint.type, endpoint }])
}
