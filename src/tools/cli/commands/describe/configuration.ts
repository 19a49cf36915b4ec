/** Descriptions of config maps, secrets (without their values) and namespaces. */

import type { ConfigMap } from '../../../../api/kinds/core/config-map.ts'
import type { Namespace } from '../../../../api/kinds/core/namespace.ts'
import type { Secret } from '../../../../api/kinds/core/secret.ts'
import { compareUtf8 } from '../../../../base/collections/utf8-order.ts'
import * as kinds from '../../../../client/requests/built-in-kinds.ts'
import type { Session } from '../../connection/session.ts'
import { conditionsText, head, lines } from './parts.ts'
import { limitText, quotaText } from './policies.ts'

export function describeConfigMap(map: ConfigMap): string {
  const data = Object.entries(map.data ?? {}).sort(([a], [b]) => compareUtf8(a, b))
  const binary = Object.entries(map.binaryData ?? {}).sort(([a], [b]) => compareUtf8(a, b))
  const texts = data.map(([key, value]) => `${key}:\n----\n${value}\n`).join('')
  const sizes = binary.map(([key, value]) => `${key}: ${bytesIn(value)} bytes\n`).join('')
  return `${head(map)}\nData\n====\n${texts}${binary.length === 0 ? '' : `\nBinaryData\n====\n${sizes}`}`
}

function bytesIn(base64: string): number {
  return Buffer.from(base64, 'base64').length
}

/** Describes a Secret, but shows only the length of each value. */
export function describeSecret(secret: Secret): string {
  const data = Object.entries(secret.data ?? {}).sort(([a], [b]) => compareUtf8(a, b))
  const sizes = data.map(([key, value]) => `${key}:\t${bytesIn(value)} bytes\n`).join('')
  return `${head(secret)}\nType:\t${secret.type ?? ''}\n\nData\n====\n${sizes}`
}

export async function describeNamespace(namespace: Namespace, { client, context }: Session): Promise<string> {
  const place = { namespace: namespace.metadata.name ?? '', signal: context.signal }
  const [quota, limit] = await Promise.all([
    client.list(kinds.ResourceQuota, place),
    client.list(kinds.LimitRange, place),
  ])
  return [
    head(namespace),
    lines({ Status: namespace.status?.phase ?? '' }),
    conditionsText(namespace.status?.conditions),
    quota.items.length === 0
      ? '\nNo resource quota.\n'
      : `\nResource Quotas\n${quota.items.map((each) => quotaText(each, '  ')).join('')}`,
    limit.items.length === 0
      ? '\nNo LimitRange resource.\n'
      : `\nResource Limits\n${limit.items.map((each) => limitText(each, ' ')).join('')}`,
  ].join('')
}
