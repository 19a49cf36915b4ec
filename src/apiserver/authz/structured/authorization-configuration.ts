/**
 * The `--authorization-config` file, which contains an AuthorizationConfiguration in the format of kube-apiserver. It
 * lists the authorizers in order, including any number of webhooks. The caller compiles the conditions.
 */
import { isAbsolute } from 'node:path'
import type { Json } from '../../../api/json/json.ts'
import type { FieldPath } from '../../../api/model/field-error.ts'
import { checkDnsSubdomain } from '../../../api/model/names.ts'
import type { Vendor } from '../../../api/model/vendor.ts'
import { ConfigurationFault, readConfiguration } from '../../../api/schema/read-configuration.ts'
import { field, type Infer, s } from '../../../api/schema/schema.ts'
import { type EmulatedVersion, isAtLeast } from '../../../api/versions/emulated-version.ts'
import { parseDuration } from '../../../base/time/duration.ts'

const connectionInfo = s.object({
  type: field(1, s.string(), { doc: 'Type of the connection. The only supported type is `KubeConfigFile`.' }),
  kubeConfigFile: field(2, s.string(), { doc: 'Absolute path of the kubeconfig for the webhook.' }),
})
const condition = s.object({
  expression: field(1, s.string(), { doc: 'CEL expression over `request` that must be true.' }),
})
const webhook = s.object({
  authorizedTTL: field(1, s.string(), {
    doc: 'How long to cache responses that allow a request. Defaults to 5m.',
  }),
  unauthorizedTTL: field(2, s.string(), { doc: 'How long to cache all other responses. Defaults to 30s.' }),
  cacheAuthorizedRequests: field(3, s.boolean(), {
    zeroValue: 'keep',
    doc: 'Whether responses that allow a request are cached. Defaults to true.',
  }),
  cacheUnauthorizedRequests: field(4, s.boolean(), {
    zeroValue: 'keep',
    doc: 'Whether all other responses are cached. Defaults to true.',
  }),
  timeout: field(5, s.string(), { doc: 'Timeout of a call, at most 30s.' }),
  subjectAccessReviewVersion: field(6, s.string(), {
    doc: 'Version of the SubjectAccessReviews that are sent to the webhook: `v1` or `v1beta1`.',
  }),
  matchConditionSubjectAccessReviewVersion: field(7, s.string(), {
    doc: 'Version of the SubjectAccessReview that match conditions can use: `v1`.',
  }),
  failurePolicy: field(8, s.string(), {
    doc: 'Decision if the call or a match condition fails: `NoOpinion` or `Deny`.',
  }),
  connectionInfo: field(9, connectionInfo, { doc: 'Connection to the webhook.' }),
  matchConditions: field(10, s.list(condition), {
    doc: 'Match conditions. The webhook is called only if all of them are true.',
  }),
})
const authorizer = s.object({
  type: field(1, s.string(), { doc: 'Type of the authorizer.' }),
  name: field(2, s.string(), { doc: 'Unique name of the authorizer, used in error messages.' }),
  webhook: field(3, webhook, { doc: 'Configuration of an authorizer of type `Webhook`.' }),
})
const fields = {
  authorizers: field(1, s.list(authorizer), { doc: 'Authorizers, in the order in which the server queries them.' }),
}

/** Authorizer types that need no additional configuration. Each type may occur once. */
const plainTypes = ['Node', 'RBAC', 'ABAC', 'AlwaysAllow', 'AlwaysDeny'] as const
const maxConditions = 64
const maxTimeoutMs = 30_000

/** A configured authorizer with its defaults applied. */
export type ConfiguredAuthorizer =
  | { readonly type: (typeof plainTypes)[number] }
  | ({ readonly type: 'Webhook' } & ConfiguredWebhook)

/** A configured authorizer of type `Webhook`. */
export interface ConfiguredWebhook {
  readonly name: string
  /** Path of the authorizer in the configuration file, for error messages. */
  readonly path: FieldPath
  readonly authorizedTtlMs: number
  readonly unauthorizedTtlMs: number
  readonly timeoutMs: number
  readonly version: 'v1' | 'v1beta1'
  readonly failurePolicy: 'NoOpinion' | 'Deny'
  readonly kubeConfigFile: string
  readonly conditions: readonly string[]
}

export interface ConfigurationParts {
  readonly vendor: Vendor
  readonly version: EmulatedVersion
}

/** Reads the configuration. Throws ConfigurationFault. */
export function readAuthorizationConfiguration(
  document: Json,
  { vendor, version }: ConfigurationParts,
): readonly ConfiguredAuthorizer[] {
  const versions = configurationVersions.filter(({ since }) => isAtLeast(version, since)).map(({ name }) => name)
  const form = { vendor, group: 'apiserver.config', versions, kind: 'AuthorizationConfiguration', fields }
  const { authorizers = [] } = readConfiguration(document, form)
  if (authorizers.length === 0) throw fault('authorizers', 'at least one authorizer is required')
  const names = new Set<string>()
  const types = new Set<string>()
  return authorizers.map((each, i) => {
    const path = `authorizers[${i}]`
    const { type = '', name = '' } = each
    const [nameFault] = name === '' ? ['is required'] : checkDnsSubdomain(name)
    if (nameFault !== undefined) throw fault(`${path}.name`, nameFault)
    if (names.has(name)) throw fault(`${path}.name`, 'is a duplicate')
    names.add(name)
    if (type !== 'Webhook' && types.has(type)) throw fault(`${path}.type`, `${type} can occur only once`)
    types.add(type)
    return readAuthorizer(each, path, version)
  })
}

const configurationVersions = [
  { name: 'v1', since: '1.32' },
  { name: 'v1beta1', since: '1.30' },
  { name: 'v1alpha1', since: '1.29' },
] as const

function readAuthorizer(
  { type = '', name = '', webhook: configured }: Infer<typeof authorizer>,
  path: FieldPath,
  version: EmulatedVersion,
): ConfiguredAuthorizer {
  if (type === 'Webhook') {
    if (configured === undefined) throw fault(`${path}.webhook`, 'is required for type Webhook')
    return { type, ...readWebhook(configured, { name, path: `${path}.webhook`, version }) }
  }
  const plain = plainTypes.find((each) => each === type)
  if (plain === undefined) throw fault(`${path}.type`, `must be one of ${[...plainTypes, 'Webhook'].join(', ')}`)
  if (configured !== undefined) throw fault(`${path}.webhook`, 'is allowed only for type Webhook')
  return { type: plain }
}

interface WebhookPlace {
  readonly name: string
  readonly path: FieldPath
  readonly version: EmulatedVersion
}

function readWebhook(configured: Infer<typeof webhook>, { name, path, version }: WebhookPlace): ConfiguredWebhook {
  for (const field of ['cacheAuthorizedRequests', 'cacheUnauthorizedRequests'] as const)
    if (configured[field] !== undefined && !isAtLeast(version, '1.34'))
      throw fault(`${path}.${field}`, 'unknown field: it exists since 1.34')
  const { cacheAuthorizedRequests = true, cacheUnauthorizedRequests = true, matchConditions = [] } = configured
  const ttl = (field: 'authorizedTTL' | 'unauthorizedTTL', fallback: string) =>
    readDuration(configured[field] ?? fallback, `${path}.${field}`)
  const authorizedTtlMs = ttl('authorizedTTL', '5m')
  const unauthorizedTtlMs = ttl('unauthorizedTTL', '30s')
  const timeoutMs = readDuration(configured.timeout ?? '', `${path}.timeout`)
  if (timeoutMs > maxTimeoutMs) throw fault(`${path}.timeout`, 'must be at most 30s')
  const conditions = readConditions(matchConditions, `${path}.matchConditions`)
  const conditionVersion = configured.matchConditionSubjectAccessReviewVersion ?? ''
  if (conditionVersion !== 'v1' && (conditionVersion !== '' || conditions.length > 0))
    throw fault(`${path}.matchConditionSubjectAccessReviewVersion`, 'must be v1')
  return {
    name,
    path,
    authorizedTtlMs: cacheAuthorizedRequests ? authorizedTtlMs : 0,
    unauthorizedTtlMs: cacheUnauthorizedRequests ? unauthorizedTtlMs : 0,
    timeoutMs,
    version: oneOf(configured.subjectAccessReviewVersion, ['v1', 'v1beta1'], `${path}.subjectAccessReviewVersion`),
    failurePolicy: oneOf(configured.failurePolicy, ['NoOpinion', 'Deny'], `${path}.failurePolicy`),
    kubeConfigFile: readConnection(configured.connectionInfo ?? {}, `${path}.connectionInfo`),
    conditions,
  }
}

function readConnection({ type = '', kubeConfigFile = '' }: Infer<typeof connectionInfo>, path: FieldPath): string {
  if (type === 'InClusterConfig')
    throw fault(`${path}.type`, 'InClusterConfig is not supported: this server is not a pod; use KubeConfigFile')
  if (type !== 'KubeConfigFile') throw fault(`${path}.type`, 'must be KubeConfigFile')
  if (!isAbsolute(kubeConfigFile)) throw fault(`${path}.kubeConfigFile`, 'must be an absolute path')
  return kubeConfigFile
}

function readConditions(conditions: readonly Infer<typeof condition>[], path: FieldPath): string[] {
  if (conditions.length > maxConditions) throw fault(path, `must have at most ${maxConditions} conditions`)
  const seen = new Set<string>()
  return conditions.map(({ expression = '' }, i) => {
    const place = `${path}[${i}].expression`
    if (expression === '') throw fault(place, 'is required')
    if (seen.has(expression)) throw fault(place, 'is a duplicate')
    seen.add(expression)
    return expression
  })
}

function readDuration(text: string, path: FieldPath): number {
  const ms = parseDuration(text)
  if (ms === undefined || ms <= 0) throw fault(path, 'must be a positive duration such as 30s')
  return ms
}

function oneOf<const T extends string>(value: string | undefined, values: readonly T[], path: FieldPath): T {
  const matchingValue = values.find((each) => each === value)
  if (matchingValue === undefined) throw fault(path, `must be ${values.join(' or ')}`)
  return matchingValue
}

function fault(path: FieldPath, why: string): ConfigurationFault {
  return new ConfigurationFault(path, `${path}: ${why}`)
}
