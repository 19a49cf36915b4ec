/**
 * Handles requests for types that are not stored (`resources/`). The server reads, validates and admits the body as it
 * does for a create. The endpoint then creates the response.
 */

import { trackSliced } from '../../../api/merge/track-update.ts'
import { badRequest, invalidObject } from '../../../api/model/api-error.ts'
import { type ApiObject, asJson, copyWithout, timestamp } from '../../../api/model/object.ts'
import type { Verb } from '../../../api/model/verb.ts'
import { emulationOf } from '../../../api/schema/context.ts'
import { dropGatedFields } from '../../../api/schema/gated-fields.ts'
import type { Kind } from '../../../api/schema/kind.ts'
import { validate } from '../../../api/schema/validate.ts'
import { isAtLeast } from '../../../api/versions/emulated-version.ts'
import type { Admission, AdmissionRequest } from '../../admission/admission.ts'
import type { ObjectForms } from '../../admission/object-forms.ts'
import type { Authorizer } from '../../authz/authorizer.ts'
import { ForwardRequest } from '../../outbound/proxy-target.ts'
import type { Connection, Endpoint } from '../../registry/catalogue/endpoint.ts'
import type { ServedType } from '../../registry/catalogue/resource.ts'
import { type Served, serveKind } from '../../registry/catalogue/served.ts'
import { sentForms } from '../../registry/reads/object-forms.ts'
import { admittedType } from '../../registry/writes/admission-request.ts'
import type { RequestForwarder } from '../relay/request-forwarder.ts'
import { connectOptions } from '../request/connect-options.ts'
import type { Exchange } from '../request/exchange.ts'
import { readListExtensions, selectsFields } from '../request/list-extensions.ts'
import { readObjectBody } from '../request/object-body.ts'
import type { ResourceInfo } from '../request/request-info.ts'
import { managerName, readWriteOptions, sentWriteOptions } from '../request/write-options.ts'
import { itemChoice } from '../response/generated-list.ts'
import { negotiate } from '../response/negotiate.ts'
import { negotiateFields, negotiateResponse } from '../response/negotiate-response.ts'
import { protobufObjects } from '../response/protobuf-form.ts'
import { sendObject } from '../response/responses.ts'
import { assertAllowed } from '../steps/authorize.ts'
import { logMessages } from '../websocket/web-socket-framings.ts'
import { answerOverWebSocket } from '../websocket/web-socket-transport.ts'

export interface EndpointCall {
  readonly verb: Verb
  readonly exchange: Exchange
  readonly info: ResourceInfo
  readonly served: ServedType
  readonly endpoint: Endpoint
  readonly admission: Admission
  readonly authorizer: Authorizer
  /** Forwards connections to nodes, pods and services. */
  readonly forwarder: RequestForwarder
  /** Whether lists support query parameters that Kubernetes does not have (`--extensions`). */
  readonly extensions: boolean
}

export async function handleAnswer(call: EndpointCall): Promise<void> {
  const { verb, exchange, info, served, endpoint } = call
  const { vendor } = served
  if (endpoint.connects !== undefined) return await handleConnection(call, endpoint.connects)
  const isListed = served.endpoint !== undefined && served.verbs.includes('list')
  if (isListed && call.extensions && verb === 'list' && selectsFields(info.query)) negotiateFields(exchange, served)
  else if (isListed) negotiateResponse(exchange, served)
  else agreeOnPlainForm(call)
  if (endpoint.streamsText) await answerOverWebSocket(exchange, logMessages)
  if (verb !== 'create') return await answerFor(call, { object: undefined, dryRun: false })
  const { dryRun, fieldManager } = readWriteOptions(info.query, { kind: 'CreateOptions', vendor, faults: [] })
  const sent = await readSent(call)
  const object = await admit(call, { object: await withManager(call, sent, fieldManager), dryRun })
  await answerFor(call, { object, dryRun })
}

async function answerFor(call: EndpointCall, { object, dryRun }: SentObject): Promise<void> {
  const { verb, exchange, info, served, endpoint } = call
  const { namespace, name, query } = info
  const { user } = exchange
  const abandoned = () => exchange.abandoned
  const warn = (text: string) => exchange.warn(text)
  const sent = { query, path: info.path, below: belowSubresource(exchange.transport.target, info) }
  const extensions = verb === 'list' && call.extensions ? readListExtensions(query, served.kind.schema) : undefined
  const choose = verb === 'list' ? itemChoice(query, served, extensions) : (object: ApiObject) => object
  const answer = await endpoint.answer({ verb, namespace, name, user, ...sent, dryRun, object, warn, abandoned })
  if (answer instanceof ForwardRequest) await call.forwarder.pass(exchange, answer.target)
  else if (answer === undefined) exchange.send(204, exchange.form.mediaType, Buffer.alloc(0))
  else
    await sendObject(exchange, verb === 'create' ? 201 : 200, {
      object: choose(answer),
      kind: endpoint.type ?? served.kind,
    })
}

/**
 * Handles a connect request. The backend chooses the response format, so this server does not negotiate a format.
 * Errors are sent as JSON.
 */
async function handleConnection(call: EndpointCall, connection: Connection): Promise<void> {
  const { exchange, info, authorizer } = call
  const { user } = exchange
  // WebSocket requests use GET, for which read permission would suffice without this check.
  if (connection.needsCreate) await assertAllowed(authorizer, { user, attributes: { ...info, verb: 'create' } })
  const object = await admit(call, { object: connectOptions(connection, call.info), dryRun: false })
  await answerFor(call, { object, dryRun: false })
}

/**
 * Returns the undecoded part of the URL after the subresource, including the query, such as `/a%2Fb?c=d`. Returns '' if
 * nothing follows the subresource.
 */
function belowSubresource(target: string, { namespace, query }: ResourceInfo): string {
  const [path = ''] = target.split('?', 1)
  const before = namespace === '' ? placeSegments : placeSegments + 2
  const below = path.split('/').slice(before)
  const asked = query.size === 0 ? '' : target.slice(path.length)
  return `${below.length === 0 ? '' : `/${below.join('/')}`}${asked}`
}

/** Number of segments in `/api/v1/nodes/n/proxy`, including the empty segment before the first slash. */
const placeSegments = 6

/** Negotiates the response format for a type that cannot be listed and therefore cannot be shown as a Table. */
function agreeOnPlainForm({ exchange, info, served, endpoint }: EndpointCall): void {
  const { vendor, hasProtobuf } = served
  const protobuf = hasProtobuf ? () => protobufObjects(vendor, endpoint.type ?? served.kind) : undefined
  const { headers } = exchange
  exchange.form = negotiate({ headers, query: info.query, watch: false, vendor, protobuf, ofResource: true }, []).form
  exchange.agreed = true
}

/**
 * Reads and validates a request body of a type that the endpoint accepts. Since Kubernetes 1.24, a namespaced object
 * without a namespace gets the request's namespace.
 */
async function readSent({ exchange, info, served, endpoint }: EndpointCall): Promise<ApiObject> {
  const type = sentTypes(served, endpoint)[0]!
  const object = await readObjectBody(exchange, type, sentTypes(served, endpoint).slice(1))
  const { kind, context } = type
  const emulation = emulationOf(context)
  dropGatedFields(kind.schema, { object: asJson(object), previous: undefined }, { ...context, ...emulation })
  if (isAtLeast(emulation.version, '1.24')) settleNamespace(object, info.namespace)
  const result = kind.rules.validate?.(object, context) ?? []
  const faults = Array.isArray(result) ? result : await exchange.timeSlice.run(result)
  const errors = [...validate(kind.schema, asJson(object), context), ...faults]
  const isNameless = kind.lifecycle.nameless === true
  const shownKind = isNameless && isAtLeast(emulation.version, '1.24') ? '' : kind.kind
  const name = isNameless ? '' : (object.metadata.name ?? '')
  if (errors.length > 0) throw invalidObject({ group: type.group, kind: shownKind }, name, errors)
  return object
}

/** Adds managedFields with the client as manager of all fields, if the endpoint records managers. */
async function withManager(
  { exchange, served, endpoint }: EndpointCall,
  object: ApiObject,
  fieldManager: string,
): Promise<ApiObject> {
  if (!endpoint.recordsManager) return object
  const { kind, empty: before, apiVersion, clock } = served
  const name = managerName(fieldManager, exchange.headers.first('user-agent'))
  const writer = { name, apiVersion, subresource: '', time: timestamp(clock.now()) }
  const update = { schema: kind.schema, before, after: object, writer, readOnly: [], create: true }
  const managedFields = await exchange.timeSlice.run(trackSliced(update))
  const metadata = copyWithout(object.metadata, 'managedFields')
  return { ...object, metadata: managedFields?.length ? { ...metadata, managedFields } : metadata }
}

/** Sets the namespace of the object. Throws 400 if the object names another namespace. */
function settleNamespace({ metadata }: ApiObject, namespace: string): void {
  if (namespace === '') delete metadata.namespace
  else if (!metadata.namespace) metadata.namespace = namespace
  else if (metadata.namespace !== namespace)
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
}

interface SentObject {
  readonly object: ApiObject | undefined
  readonly dryRun: boolean
}

async function admit(call: EndpointCall, sent: SentObject): Promise<ApiObject | undefined> {
  const { admission, endpoint } = call
  if (endpoint.admits === undefined) return sent.object
  const object = await admission.mutate(requestOf(call, sent))
  await admission.validate(requestOf(call, { ...sent, object }))
  return object
}

function requestOf(
  { exchange, info, served, endpoint }: EndpointCall,
  { object, dryRun }: SentObject,
): AdmissionRequest {
  const { subresource, namespace } = info
  const type = admittedType(served)
  return {
    operation: endpoint.admits ?? 'CREATE',
    vendor: served.vendor,
    type,
    requested: type,
    forms: formsFor(served, endpoint, object),
    subresource,
    namespace,
    name: info.name || (object?.metadata.name ?? ''),
    user: exchange.user,
    dryRun,
    options: endpoint.admits === 'CONNECT' ? undefined : () => sentWriteOptions(info.query),
    explanation: exchange.explanation,
    traceHeaders: () => exchange.traceHeaders,
    bypass: exchange.bypass,
    audit: exchange.audit,
    deadline: exchange.deadline,
    abandoned: () => exchange.abandoned,
    warn: (text) => exchange.warn(text),
    object,
    oldObject: undefined,
  }
}

/** Returns the types that clients may send to an endpoint, preferred type first. */
function sentTypes(served: ServedType, { type, alsoTakes = [] }: Endpoint): Served[] {
  const serve = (kind: Kind) => serveKind(kind, served.context, [])
  return [type === undefined ? served : serve(type), ...alsoTakes.map(serve)]
}

const formsByType = new WeakMap<ServedType, Map<string, ObjectForms>>()

/**
 * Returns the representations of the request body for webhooks. The same type always gets the same instance, because
 * webhook matching caches by identity.
 */
function formsFor(served: ServedType, endpoint: Endpoint, object: ApiObject | undefined): ObjectForms {
  const apiVersion = object?.apiVersion ?? ''
  const ofType = formsByType.get(served) ?? new Map<string, ObjectForms>()
  formsByType.set(served, ofType)
  const key = `${endpoint.subresource} ${apiVersion}`
  const cachedValue = ofType.get(key)
  if (cachedValue !== undefined) return cachedValue
  const type = sentTypes(served, endpoint).find((each) => each.apiVersion === apiVersion)
  const forms = sentForms({ served, type, options: endpoint.connects?.kind })
  ofType.set(key, forms)
  return forms
}
