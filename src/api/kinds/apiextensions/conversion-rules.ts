/**
 * Validation of the conversion settings of a CustomResourceDefinition. As in kube-apiserver, errors about a webhook use
 * the field paths of apiextensions v1beta1.
 */
import { at, child, type FieldError, forbidden, invalid, notSupported, required } from '../../model/field-error.ts'
import { checkDns1035Label } from '../../model/names.ts'
import { checkWebhookService, checkWebhookUrl } from '../../model/webhook-address.ts'
import { repeatedAt } from '../core/types/repeated.ts'
import type { DefinitionSpec } from './definition-fields.ts'

type Conversion = NonNullable<DefinitionSpec['conversion']>
type Webhook = NonNullable<Conversion['webhook']>

const path = 'spec.conversion'
const clientConfigPath = child(path, 'webhookClientConfig')
const versionsPath = child(path, 'conversionReviewVersions')

/** ConversionReview versions that this server can send. */
export const conversionReviewVersions: readonly string[] = ['v1', 'v1beta1']

export function checkConversion({ strategy = '', webhook }: Conversion): FieldError[] {
  if (strategy !== 'Webhook') return [...checkStrategy(strategy), ...checkUnused(webhook ?? {})]
  const { clientConfig, conversionReviewVersions: versions = [] } = webhook ?? {}
  const client =
    clientConfig === undefined
      ? [required(clientConfigPath, 'required when strategy is set to Webhook')]
      : checkClient(clientConfig)
  return [...client, ...checkVersions(versions)]
}

function checkStrategy(strategy: string): FieldError[] {
  if (strategy === 'None') return []
  const place = child(path, 'strategy')
  return [strategy === '' ? required(place) : notSupported(place, strategy, ['None', 'Webhook'])]
}

function checkUnused({ clientConfig, conversionReviewVersions: versions = [] }: Webhook): FieldError[] {
  const why = 'should not be set when strategy is not set to Webhook'
  return [
    ...(clientConfig === undefined ? [] : [forbidden(clientConfigPath, why)]),
    ...(versions.length === 0 ? [] : [forbidden(versionsPath, why)]),
  ]
}

function checkVersions(versions: readonly string[]): FieldError[] {
  if (versions.length === 0) return [required(versionsPath)]
  const repeated = repeatedAt(versions)
  const each = versions.flatMap((version, i) => {
    const faults = repeated.has(i) ? ['duplicate version'] : checkDns1035Label(version)
    return faults.map((fault) => invalid(at(versionsPath, i), version, fault))
  })
  if (versions.some((version) => conversionReviewVersions.includes(version))) return each
  return [
    ...each,
    invalid(versionsPath, [...versions], `must include at least one of ${conversionReviewVersions.join(', ')}`),
  ]
}

function checkClient({ url, service }: NonNullable<Webhook['clientConfig']>): FieldError[] {
  if ((url === undefined) === (service === undefined))
    return [required(clientConfigPath, 'exactly one of url or service is required')]
  if (url !== undefined) return checkWebhookUrl(url, child(clientConfigPath, 'url'))
  return checkWebhookService(service ?? {}, child(clientConfigPath, 'service'))
}
