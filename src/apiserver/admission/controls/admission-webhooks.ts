/**
 * MutatingAdmissionWebhook and ValidatingAdmissionWebhook: call the webhooks that are configured in stored objects
 * (`../webhook/`). The configuration file of these plugins names a kubeconfig file with the credentials for each
 * webhook host.
 */
import { isAbsolute } from 'node:path'
import type { Json } from '../../../api/json/json.ts'
import { readConfiguration } from '../../../api/schema/read-configuration.ts'
import { field, s } from '../../../api/schema/schema.ts'
import type { Log } from '../../../base/telemetry/log.ts'
import type { Clock } from '../../../base/time/clock.ts'
import type { Authorizer } from '../../authz/authorizer.ts'
import type { ConfiguredCredentials } from '../../outbound/credentials.ts'
import type { HttpsCaller } from '../../outbound/https-caller.ts'
import type { ServiceAddressParts } from '../../outbound/service-address.ts'
import { Destinations } from '../../outbound/webhook-address.ts'
import type { Control } from '../admission.ts'
import type { AdmissionMetrics } from '../admission-metrics.ts'
import type { LoadPatterns } from '../policy/policy-faults.ts'
import { WebhookCalls } from '../webhook/calls.ts'
import { WebhookConfigurations } from '../webhook/configurations.ts'
import type { KnownWebhooks } from '../webhook/known-webhooks.ts'
import { CompiledConditions } from '../webhook/match-conditions.ts'
import { mutatingWebhooks, type WebhookControlParts } from '../webhook/mutating-webhooks.ts'
import { validatingWebhooks } from '../webhook/validating-webhooks.ts'
import type { Phase } from '../webhook/webhook.ts'

/** Dependencies of the webhook plugins. */
export interface WebhookMeans extends ServiceAddressParts {
  readonly clock: Clock
  readonly log: Log
  readonly caller: HttpsCaller
  /** This server's request timeout in milliseconds. */
  readonly requestLimitMs: number
  readonly metrics: AdmissionMetrics
  /** Answers permission queries in match conditions. */
  readonly authorizer: Authorizer
  readonly loadPatterns: LoadPatterns
  /** Lists the webhooks of this server, for metrics and reports. */
  readonly knownWebhooks: KnownWebhooks
}

const anonymous: ConfiguredCredentials = { byName: new Map() }

export function mutatingAdmissionWebhook(parts: WebhookMeans, credentials = anonymous): Control {
  return mutatingWebhooks(open(parts, 'mutating', credentials))
}

export function validatingAdmissionWebhook(parts: WebhookMeans, credentials = anonymous): Control {
  return validatingWebhooks(open(parts, 'validating', credentials))
}

export async function configuredMutatingAdmissionWebhook(parts: WebhookMeans, value: Json): Promise<Control> {
  return mutatingAdmissionWebhook(parts, await readCredentials(parts, value))
}

export async function configuredValidatingAdmissionWebhook(parts: WebhookMeans, value: Json): Promise<Control> {
  return validatingAdmissionWebhook(parts, await readCredentials(parts, value))
}

function open(parts: WebhookMeans, phase: Phase, credentials: ConfiguredCredentials): WebhookControlParts {
  const { lookup, clock, log, caller, requestLimitMs, authorizer } = parts
  const metrics = parts.metrics.webhooks
  const configurations = new WebhookConfigurations(phase, lookup, clock)
  parts.knownWebhooks.add(configurations)
  const destinations = new Destinations(parts, credentials)
  const calls = new WebhookCalls({ caller, destinations, clock, metrics, log, requestLimitMs })
  const conditions = new CompiledConditions(parts.loadPatterns)
  return { configurations, calls, lookup, metrics, authorizer, conditions, policyMetrics: parts.metrics.policies }
}

const fields = {
  kubeConfigFile: field(1, s.string(), { doc: 'Absolute path of the kubeconfig file with credentials for webhooks.' }),
}

/**
 * Reads the credentials for webhooks. Throws an error if the configuration or the kubeconfig file is invalid. Loads the
 * parsers on demand.
 */
async function readCredentials({ vendor }: WebhookMeans, value: Json): Promise<ConfiguredCredentials> {
  const form = { group: 'apiserver.config', versions: ['v1', 'v1alpha1'], kind: 'WebhookAdmissionConfiguration' }
  const { kubeConfigFile: file = '' } = readConfiguration(value, { vendor, ...form, fields })
  if (!isAbsolute(file)) throw new Error('kubeConfigFile must be an absolute path')
  const [{ readUsers }, { parseConfigYaml }] = await Promise.all([
    import('../../../client/node/kubeconfig.ts'),
    import('../../../client/node/config-yaml.ts'),
  ])
  const { byName, current } = readUsers({ files: [file], parse: parseConfigYaml })
  return { byName, byDefault: current }
}
