/**
 * Configuration of PodSecurity: the defaults for namespaces without labels, and the exemptions. Without a configuration
 * file, namespaces without labels are not restricted.
 */

import type { Json } from '../../../api/json/json.ts'
import { at, duplicate, type FieldError, type FieldPath, invalid } from '../../../api/model/field-error.ts'
import { checkDnsLabel, checkDnsSubdomain, type NameCheck } from '../../../api/model/names.ts'
import type { Vendor } from '../../../api/model/vendor.ts'
import { readConfiguration } from '../../../api/schema/read-configuration.ts'
import { field, s } from '../../../api/schema/schema.ts'
import { type Level, type LevelVersion, levelFault, type Mode, type Policy, versionFault } from './policy.ts'

export interface PodSecurityConfiguration {
  readonly defaults: Policy
  readonly exemptUsers: ReadonlySet<string>
  readonly exemptNamespaces: ReadonlySet<string>
  readonly exemptRuntimeClasses: ReadonlySet<string>
}

const text = (fault: (value: string) => string | undefined) => ({
  ...s.string(),
  check: (value: string, path: FieldPath) => {
    const why = fault(value)
    return why === undefined ? [] : [invalid(path, value, why)]
  },
})
const names = (check: NameCheck) => ({
  ...s.list(s.string()),
  check: (list: string[], path: FieldPath) => checkNames(list, path, check),
})

const defaults = s.object({
  enforce: field(1, text(levelFault), {
    zeroValue: 'keep',
    doc: 'Pod security level. Pods that violate this level are rejected.',
  }),
  'enforce-version': field(2, text(versionFault), {
    zeroValue: 'keep',
    doc: 'Kubernetes version whose rules apply to `enforce`.',
  }),
  audit: field(3, text(levelFault), {
    zeroValue: 'keep',
    doc: 'Pod security level. Violations of this level are recorded in the audit log.',
  }),
  'audit-version': field(4, text(versionFault), {
    zeroValue: 'keep',
    doc: 'Kubernetes version whose rules apply to `audit`.',
  }),
  warn: field(5, text(levelFault), {
    zeroValue: 'keep',
    doc: 'Pod security level. Pods that violate this level cause a warning.',
  }),
  'warn-version': field(6, text(versionFault), {
    zeroValue: 'keep',
    doc: 'Kubernetes version whose rules apply to `warn`.',
  }),
})

const someName: NameCheck = (name) => (name === '' ? ['must not be empty'] : [])

const exemptions = s.object({
  usernames: field(1, names(someName), { doc: 'Users whose pods are exempt.' }),
  namespaces: field(2, names(checkDnsLabel), { doc: 'Namespaces whose pods are exempt.' }),
  runtimeClasses: field(3, names(checkDnsSubdomain), { doc: 'Runtime classes whose pods are exempt.' }),
})

const fields = {
  defaults: field(1, defaults, { doc: 'Levels and versions for namespaces without pod security labels.' }),
  exemptions: field(2, exemptions, { doc: 'Users, namespaces and runtime classes that are exempt from all checks.' }),
}

export function readPodSecurity(value: Json, vendor: Vendor): PodSecurityConfiguration {
  const { defaults: wanted = {}, exemptions: exempt = {} } = readConfiguration(value, {
    vendor,
    group: 'pod-security.admission.config',
    versions: ['v1beta1', 'v1alpha1'],
    kind: 'PodSecurityConfiguration',
    fields,
  })
  const mode = (name: Mode): LevelVersion => ({
    level: (wanted[name] as Level | undefined) ?? free.level,
    version: wanted[`${name}-version`] ?? free.version,
  })
  return {
    defaults: { enforce: mode('enforce'), audit: mode('audit'), warn: mode('warn') },
    exemptUsers: new Set(exempt.usernames),
    exemptNamespaces: new Set(exempt.namespaces),
    exemptRuntimeClasses: new Set(exempt.runtimeClasses),
  }
}

const free = { level: 'privileged', version: 'latest' } as const

export const usual: PodSecurityConfiguration = {
  defaults: { enforce: free, audit: free, warn: free },
  exemptUsers: new Set(),
  exemptNamespaces: new Set(),
  exemptRuntimeClasses: new Set(),
}

function checkNames(list: readonly string[], path: FieldPath, check: NameCheck): FieldError[] {
  const seenNames = new Set<string>()
  return list.flatMap((name, i) => {
    const repeated = seenNames.has(name)
    seenNames.add(name)
    return [
      ...check(name).map((why) => invalid(at(path, i), name, why)),
      ...(repeated ? [duplicate(at(path, i), name)] : []),
    ]
  })
}
