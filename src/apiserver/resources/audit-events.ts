/** Lists the requests that this server recorded recently, newest first (`auditevents`). */

import { isObject, type Json, type JsonObject, own } from '../../api/json/json.ts'
import { auditEvent } from '../../api/kinds/ops/audit-event.ts'
import { notFound } from '../../api/model/api-error.ts'
import { apiVersionOf, groupName, type Vendor } from '../../api/model/vendor.ts'
import type { Endpoint } from '../registry/catalogue/endpoint.ts'

export interface AuditEventParts {
  readonly vendor: Vendor
  /** Returns the audit events that this server still has in memory, as JSON, oldest first. */
  readonly recentEvents: () => readonly string[]
}

export function auditEvents({ vendor, recentEvents }: AuditEventParts): Endpoint {
  const { kind, plural, group, version } = auditEvent
  const apiVersion = apiVersionOf(vendor, group, version)
  return {
    kind: auditEvent,
    subresource: '',
    verbs: ['get', 'list'],
    type: undefined,
    admits: undefined,
    doc: 'Lists the recent requests that this server recorded.',
    answer: ({ verb, name }) => {
      const all = recentEvents()
      if (verb === 'list')
        return { apiVersion, kind: `${kind}List`, metadata: {}, items: all.toReversed().map(describe) }
      const eventText = all.findLast((text) => text.includes(name) && idIn(parse(text)) === name)
      if (eventText === undefined) throw notFound({ group: groupName(vendor, group), plural }, name)
      return { apiVersion, kind, ...describe(eventText) }
    },
  }
}

function parse(text: string): JsonObject {
  return JSON.parse(text) as JsonObject
}

function idIn(event: JsonObject): string {
  return textIn(event, 'auditID')
}

function describe(text: string) {
  const event = parse(text)
  const reference = partOf(event, 'objectRef')
  const code = own(partOf(event, 'responseStatus'), 'code')
  const impersonated = textIn(partOf(event, 'impersonatedUser'), 'username')
  return {
    metadata: { name: idIn(event) },
    time: textIn(event, 'requestReceivedTimestamp'),
    user: textIn(partOf(event, 'user'), 'username'),
    ...(impersonated === '' ? {} : { impersonated }),
    verb: textIn(event, 'verb'),
    resource: resourceIn(reference),
    namespace: textIn(reference, 'namespace'),
    object: textIn(reference, 'name'),
    ...(typeof code === 'number' ? { code } : {}),
    event: event as Json,
  }
}

/** Returns the resource of an audit event as a single string, such as `deployments.apps/scale`. */
function resourceIn(reference: JsonObject): string {
  const [resource, group, subresource] = ['resource', 'apiGroup', 'subresource'].map((key) => textIn(reference, key))
  return `${resource}${group && `.${group}`}${subresource && `/${subresource}`}`
}

function partOf(value: JsonObject, key: string): JsonObject {
  const part = own(value, key)
  return isObject(part) ? part : {}
}

function textIn(value: JsonObject, key: string): string {
  const text = own(value, key)
  return typeof text === 'string' ? text : ''
}
