/**
 * Checks and sets the Linux capabilities of containers. A policy specifies default capabilities, allowed capabilities,
 * and capabilities that containers must drop.
 */

import type { SecurityContext } from '../../../api/kinds/core/types/security-context.ts'
import { child, type FieldError, type FieldPath, invalid } from '../../../api/model/field-error.ts'
import type { PolicySpec } from './effective-settings.ts'

type Capabilities = SecurityContext['capabilities']

/** Adds the policy's default and required capabilities. Returns the same object if nothing changes. */
export function fillCapabilities(spec: PolicySpec, own: Capabilities): Capabilities {
  const { add = [], drop = [] } = own ?? {}
  const adds = new Set([...add, ...(spec.defaultAddCapabilities ?? []).filter((name) => !drop.includes(name))])
  const drops = new Set([...drop, ...(spec.requiredDropCapabilities ?? [])])
  if (adds.size === new Set(add).size && drops.size === new Set(drop).size) return own
  return {
    ...(adds.size === 0 ? {} : { add: [...adds].sort() }),
    ...(drops.size === 0 ? {} : { drop: [...drops].sort() }),
  }
}

export function checkCapabilities(spec: PolicySpec, own: Capabilities, path: FieldPath): FieldError[] {
  const { allowedCapabilities: allowed = [], defaultAddCapabilities: usual = [] } = spec
  const { requiredDropCapabilities: dropped = [] } = spec
  if (allowed.includes('*')) return []
  const may = new Set([...allowed, ...usual])
  const drops = new Set(own?.drop)
  return [
    ...(own?.add ?? [])
      .filter((name) => !may.has(name))
      .map((name) => invalid(child(path, 'add'), name, 'capability may not be added')),
    ...dropped
      .filter((name) => !drops.has(name))
      .map((name) => invalid(child(path, 'drop'), own?.drop ?? [], `${name} must be dropped`)),
  ]
}
