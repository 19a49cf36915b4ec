/** A Sysctl is a kernel parameter of a pod. */
import { at, child, duplicate, type FieldError, type FieldPath, invalid } from '../../../model/field-error.ts'
import { isSince, type RuleContext } from '../../../schema/context.ts'
import { field, type InferFields, s } from '../../../schema/schema.ts'
import { repeatedAt } from './repeated.ts'

const sysctlFields = {
  name: field(1, s.string(), { zeroValue: 'write', required: true, doc: 'Name of the kernel parameter.' }),
  value: field(2, s.string(), { zeroValue: 'write', doc: 'Value of the kernel parameter.' }),
}

export const sysctl = s.object(sysctlFields, {
  name: 'Sysctl',
  doc: 'A kernel parameter (sysctl) to set for a pod.',
  check: ({ name = '' }, path, context) =>
    name === '' || isSysctlName(name, context) ? [] : [invalid(child(path, 'name'), name, nameRule)],
})

type Sysctl = InferFields<typeof sysctlFields>

const sysctlPart = /^[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?$/
const nameRule = "must consist of lowercase letters, digits, '-' and '_' in parts separated by dots"

/** Whether the name of a kernel parameter is valid. Since 1.24, slashes may separate its parts. */
function isSysctlName(name: string, context: RuleContext): boolean {
  const separator = isSince('1.24', context) ? /[./]/ : '.'
  return name.length <= 253 && name.split(separator).every((part) => sysctlPart.test(part))
}

export function checkSysctls(sysctls: readonly Sysctl[], path: FieldPath, context: RuleContext): FieldError[] {
  const sound = sysctls.map(({ name = '' }) => (isSysctlName(name, context) ? name : undefined))
  return [...repeatedAt(sound)].map((i) => duplicate(child(at(path, i), 'name'), sound[i]!))
}

/** The host namespaces that a pod can use, and the kernel parameters that belong to each. */
const namespaces = [
  { host: 'hostNetwork', isPart: (name: string) => name.startsWith('net.') },
  {
    host: 'hostIPC',
    isPart: (name: string) => name === 'kernel.sem' || /^(?:kernel\.shm|kernel\.msg|fs\.mqueue\.)/.test(name),
  },
] as const

/** Rejects kernel parameters of a namespace that the pod shares with the host. Versions before 1.30 accept them. */
export function checkHostSysctls(
  pod: { hostNetwork?: boolean; hostIPC?: boolean; securityContext?: { sysctls?: Sysctl[] } },
  path: FieldPath,
  context: RuleContext,
): FieldError[] {
  const shared = namespaces.filter(({ host }) => pod[host])
  if (shared.length === 0 || !isSince('1.30', context)) return []
  return (pod.securityContext?.sysctls ?? []).flatMap(({ name = '' }, i) =>
    shared
      .filter(({ isPart }) => isPart(withDots(name)))
      .map(({ host }) => invalid(child(at(path, i), 'name'), name, `may not be specified when '${host}' is true`)),
  )
}

/** Returns the name with dots as separators. If the first separator is a slash, swaps dots and slashes. */
function withDots(name: string): string {
  if (/[./]/.exec(name)?.[0] !== '/') return name
  return name.replace(/[./]/g, (separator) => (separator === '/' ? '.' : '/'))
}
