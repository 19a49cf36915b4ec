/** Only some SELinux types are allowed. Custom users and roles are forbidden. */
import type { SecurityContext } from '../../../../api/kinds/core/types/security-context.ts'
import { type Check, containersOf, distinct, namesWhere, quotedList, type Rule, setters } from '../check.ts'

type Options = SecurityContext['seLinuxOptions']

const firstTypes = ['', 'container_t', 'container_init_t', 'container_kvm_t']

export const seLinuxOptions: Check = {
  id: 'seLinuxOptions',
  level: 'baseline',
  rules: [
    { since: 0, rule: ruleFor(firstTypes) },
    { since: 31, rule: ruleFor([...firstTypes, 'container_engine_t']) },
  ],
}

function ruleFor(allowed: readonly string[]): Rule {
  return (pod) => {
    const ofPod = pod.spec.securityContext?.seLinuxOptions
    const isBad = (options: Options) => faultsOf(options, allowed).length > 0
    const containers = namesWhere(pod, ({ securityContext }) => isBad(securityContext?.seLinuxOptions))
    const who = setters({ pod: isBad(ofPod), containers })
    if (who === '') return undefined
    const all = [ofPod, ...containersOf(pod.spec).map(({ securityContext }) => securityContext?.seLinuxOptions)]
    return {
      reason: 'seLinuxOptions',
      detail: `${who} set forbidden securityContext.seLinuxOptions: ${describeFaults(all, allowed)}`,
    }
  }
}

function faultsOf(options: Options, allowed: readonly string[]): string[] {
  const { type = '', user = '', role = '' } = options ?? {}
  return [allowed.includes(type) ? '' : 'type', user === '' ? '' : 'user', role === '' ? '' : 'role'].filter(
    (fault) => fault !== '',
  )
}

function describeFaults(all: readonly Options[], allowed: readonly string[]): string {
  const faults = new Set(all.flatMap((options) => faultsOf(options, allowed)))
  const types = distinct(all.map((options) => options?.type ?? '').filter((type) => !allowed.includes(type)))
  return [
    ...(types.length === 0 ? [] : [`type${types.length === 1 ? '' : 's'} ${quotedList(types)}`]),
    ...['user', 'role'].filter((field) => faults.has(field)).map((field) => `${field} may not be set`),
  ].join('; ')
}
