/**
 * The configuration of PodSecurity: what counts where a namespace says nothing, and who is exempt. Without a file nothing
 * is asked of pods where no label does.
 */
import { at, duplicate, type FieldError, type FieldPath, invalid } from '../../model/field-error.ts'
import type { Json } from '../../model/json.ts'
import { checkDnsLabel, checkDnsSubdomain, type NameCheck } from '../../model/names.ts'
import type { Vendor } from '../../model/vendor.ts'
import { s } from '../../schema/schema.ts'
import { readConfiguration, setting } from '../read-configuration.ts'
import { levelFault, type Mode, type Policy, versionFault } from './policy.ts'

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
const level = (doc: string) => setting(text(levelFault), { default: 'privileged', zero: 'keep', doc })
const version = (doc: string) => setting(text(versionFault), { default: 'latest', zero: 'keep', doc })
const names = (check: NameCheck, doc: string) =>
  setting({ ...s.list(s.string()), check: (list: string[], path: FieldPath) => checkNames(list, path, check) }, { doc })

const defaults = s.object(
  {
    enforce: level('What is refused.'),
    'enforce-version': version('By the rules of which release.'),
    audit: level('What is counted.'),
    'audit-version': version('By the rules of which release.'),
    warn: level('What clients are warned of.'),
    'warn-version': version('By the rules of which release.'),
  },
  { doc: 'What counts where the labels of a namespace say nothing.' },
)

const exemptions = s.object(
  {
    usernames: names((name) => (name === '' ? ['must not be empty'] : []), 'Users whose pods are not looked at.'),
    namespaces: names(checkDnsLabel, 'Namespaces whose pods are not looked at.'),
    runtimeClasses: names(checkDnsSubdomain, 'Runtime classes whose pods are not looked at.'),
  },
  { doc: 'Who is exempt.' },
)

const schema = s.object(
  {
    defaults: setting(defaults, { default: {}, doc: 'What counts where a namespace says nothing.' }),
    exemptions: setting(exemptions, { default: {}, doc: 'Who is exempt.' }),
  },
  { doc: 'The configuration of PodSecurity.' },
)

/** Null, an entry that says nothing, is the usual one. */
export function readPodSecurity(value: Json, vendor: Vendor): PodSecurityConfiguration {
  if (value === null) return usual
  const type = {
    vendor,
    group: 'pod-security.admission.config',
    versions: ['v1beta1', 'v1alpha1'],
    kind: 'PodSecurityConfiguration',
  }
  const { defaults: wanted = {}, exemptions: exempt = {} } = readConfiguration(schema, type, value)
  const mode = (name: Mode) => ({ level: wanted[name], version: wanted[`${name}-version`] })
  return {
    defaults: { enforce: mode('enforce'), audit: mode('audit'), warn: mode('warn') } as Policy,
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
  const seen = new Set<string>()
  return list.flatMap((name, i) => {
    const repeated = seen.has(name)
    seen.add(name)
    return [
      ...check(name).map((why) => invalid(at(path, i), name, why)),
      ...(repeated ? [duplicate(at(path, i), name)] : []),
    ]
  })
}
