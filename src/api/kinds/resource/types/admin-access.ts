/** Administrative access to devices. Only claims in namespaces with a certain label may request it. */
import { type FieldError, forbidden } from '../../../model/field-error.ts'
import { vendorKey } from '../../../model/vendor.ts'
import type { RuleContext } from '../../../schema/context.ts'

interface Request {
  readonly exactly?: { readonly adminAccess?: boolean }
}

interface Result {
  readonly adminAccess?: boolean
}

/** Rejects requests with administrative access. For templates, clients expect the same error path as for claims. */
export function checkAdminRequests(requests: readonly Request[] = [], context: RuleContext): FieldError[] {
  const i = requests.findIndex(({ exactly }) => exactly?.adminAccess === true)
  return i < 0 ? [] : checkNamespace(`spec.devices.requests[${i}].adminAccess`, context)
}

/** Rejects newly allocated devices with administrative access. */
export function checkAdminResults(
  next: readonly Result[] = [],
  previous: readonly Result[] = [],
  context: RuleContext,
): FieldError[] {
  if (previous.some(({ adminAccess }) => adminAccess === true)) return []
  const i = next.findIndex(({ adminAccess }) => adminAccess === true)
  return i < 0 ? [] : checkNamespace(`status.allocation.devices.results[${i}].adminAccess`, context)
}

function checkNamespace(path: string, { vendor, namespaceLabels }: RuleContext): FieldError[] {
  const key = vendorKey(vendor, 'admin-access', 'resource')
  const labels = namespaceLabels?.() ?? {}
  if (Object.hasOwn(labels, key) && labels[key] === 'true') return []
  return [forbidden(path, `admin access to devices requires the label ${key}: "true" on the namespace`)]
}
