/** How objects get from one version to another. None is what there is: a webhook is judged, and then not taken. */
import { child, type FieldError, forbidden, invalid, notSupported, required } from '../../model/field-error.ts'
import type { DefinitionSpec } from './definition-fields.ts'

type Conversion = NonNullable<DefinitionSpec['conversion']>
type Webhook = NonNullable<Conversion['webhook']>

const path = 'spec.conversion'
const clientConfigPath = child(path, 'webhookClientConfig')
const versionsPath = child(path, 'conversionReviewVersions')
const reviewVersions = ['v1', 'v1beta1']

export function checkConversion({ strategy = '', webhook }: Conversion): FieldError[] {
  if (strategy === 'None') return webhook === undefined ? [] : checkUnused(webhook)
  if (strategy === '') return [required(child(path, 'strategy'))]
  if (strategy !== 'Webhook') return [notSupported(child(path, 'strategy'), strategy, ['None', 'Webhook'])]
  const faults = checkWebhook(webhook ?? {})
  return faults.length > 0
    ? faults
    : [forbidden(child(path, 'strategy'), 'this server does not convert by webhooks yet: use None')]
}

function checkUnused({ clientConfig, conversionReviewVersions = [] }: Webhook): FieldError[] {
  const why = 'should not be set when strategy is not set to Webhook'
  return [
    ...(clientConfig === undefined ? [] : [forbidden(clientConfigPath, why)]),
    ...(conversionReviewVersions.length === 0 ? [] : [forbidden(versionsPath, why)]),
  ]
}

function checkWebhook({ clientConfig, conversionReviewVersions: versions = [] }: Webhook): FieldError[] {
  return [
    ...(clientConfig === undefined
      ? [required(clientConfigPath, 'required when strategy is set to Webhook')]
      : checkClient(clientConfig)),
    ...(versions.length === 0 ? [required(versionsPath)] : []),
    ...(versions.length === 0 || versions.some((version) => reviewVersions.includes(version))
      ? []
      : [invalid(versionsPath, versions, `must include at least one of ${reviewVersions.join(', ')}`)]),
  ]
}

function checkClient({ url, service }: NonNullable<Webhook['clientConfig']>): FieldError[] {
  if ((url === undefined) === (service === undefined))
    return [required(clientConfigPath, 'exactly one of url or service is required')]
  if (url === undefined) return []
  const scheme = URL.parse(url)?.protocol.slice(0, -1) ?? ''
  if (scheme === 'https') return []
  return [invalid(child(clientConfigPath, 'url'), scheme, 'must be an https URL: https://host[/path]')]
}
