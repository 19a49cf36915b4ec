/**
 * Implements `orchctl create quota`, `priorityclass`, `poddisruptionbudget` and `ingress`, whose objects have few
 * fields.
 */

import { flag, repeated, text, toggle, UsageError } from '../../../../base/flags/flags.ts'
import * as kinds from '../../../../client/requests/built-in-kinds.ts'
import { readAmounts, readPairs, readSelector } from '../../arguments/pairs.ts'
import { defineGenerator } from './generator.ts'

export const createQuotaCommand = defineGenerator({
  name: 'quota',
  about: 'Create a resource quota, which limits the total resources of a namespace.',
  examples: [
    'orchctl create quota small --hard=cpu=1,memory=1Gi,pods=10',
    'orchctl create quota best --hard=pods=5 --scopes=BestEffort',
  ],
  flags: {
    hard: flag({
      name: 'hard',
      value: 'WHAT=AMOUNT,...',
      read: text,
      help: 'hard limits, such as cpu=4,memory=8Gi,pods=20',
    }),
    scopes: flag({
      name: 'scopes',
      value: 'SCOPE,...',
      read: text,
      help: 'quota scopes, such as BestEffort or NotTerminating',
    }),
  },
  type: kinds.ResourceQuota,
  make: ({ hard, scopes }) => ({
    spec: {
      ...(hard === '' ? {} : { hard: readAmounts(hard, '--hard') }),
      ...(scopes === '' ? {} : { scopes: scopes.split(',') }),
    },
  }),
})

export const createPriorityClassCommand = defineGenerator({
  name: 'priorityclass',
  about: 'Create a priority class for pods.',
  examples: ['orchctl create priorityclass high --value=1000 --description="comes first"'],
  flags: {
    value: flag({
      name: 'value',
      value: 'NUMBER',
      default: '0',
      read: readValue,
      help: 'priority of the pods; the scheduler places pods with a higher priority first',
    }),
    globalDefault: toggle({
      name: 'global-default',
      help: 'use the new priority class for pods that do not specify one',
    }),
    description: flag({
      name: 'description',
      value: 'TEXT',
      read: text,
      help: 'description of when to use the priority class',
    }),
    preemptionPolicy: flag({
      name: 'preemption-policy',
      value: 'POLICY',
      default: 'PreemptLowerPriority',
      read: text,
      help: 'preemption policy: PreemptLowerPriority or Never',
    }),
  },
  type: kinds.PriorityClass,
  make: ({ value, globalDefault, description, preemptionPolicy }) => ({
    value,
    globalDefault,
    description,
    preemptionPolicy,
  }),
})

function readValue(value: string): number {
  if (!/^-?\d{1,10}$/.test(value)) throw new UsageError(`${JSON.stringify(value)} is not a number`)
  return Number(value)
}

export const createPodDisruptionBudgetCommand = defineGenerator({
  name: 'poddisruptionbudget',
  about: 'Create a pod disruption budget, which limits how many pods voluntary disruptions may take down at once.',
  examples: [
    'orchctl create poddisruptionbudget web --selector=app=web --min-available=2',
    'orchctl create poddisruptionbudget web --selector=app=web --max-unavailable=50%',
  ],
  flags: {
    selector: flag({
      name: 'selector',
      value: 'SELECTOR',
      read: text,
      help: 'label selector for the pods, such as app=web',
    }),
    minAvailable: flag({
      name: 'min-available',
      value: 'NUMBER',
      read: text,
      help: 'minimum number or percentage of available pods, such as 2 or 50%',
    }),
    maxUnavailable: flag({
      name: 'max-unavailable',
      value: 'NUMBER',
      read: text,
      help: 'maximum number or percentage of unavailable pods, such as 1 or 20%',
    }),
  },
  type: kinds.PodDisruptionBudget,
  make: ({ selector, minAvailable, maxUnavailable }) => {
    if (selector === '') throw new UsageError('a selector must be specified')
    if (minAvailable !== '' && maxUnavailable !== '')
      throw new UsageError('min-available and max-unavailable cannot be both specified')
    if (minAvailable === '' && maxUnavailable === '')
      throw new UsageError('one of min-available or max-unavailable must be specified')
    const limit =
      minAvailable === '' ? { maxUnavailable: amountOf(maxUnavailable) } : { minAvailable: amountOf(minAvailable) }
    return { spec: { ...limit, selector: readSelector(selector) } }
  },
})

function amountOf(text: string): number | string {
  return /^\d{1,9}$/.test(text) ? Number(text) : text
}

export const createIngressCommand = defineGenerator({
  name: 'ingress',
  about: `Create an ingress, which routes external requests to services.

A rule has the form HOST/PATH=SERVICE:PORT[,tls[=SECRET]]. A path that ends in * matches all paths with that prefix.`,
  examples: [
    "orchctl create ingress site --rule='shop.example.com/*=web:80,tls=site'",
    'orchctl create ingress all --default-backend=web:http --class=public',
  ],
  flags: {
    rule: repeated({
      name: 'rule',
      value: 'RULE',
      read: text,
      help: 'routing rule, as HOST/PATH=SERVICE:PORT[,tls[=SECRET]]',
    }),
    class: flag({ name: 'class', value: 'NAME', read: text, help: 'name of the ingress class' }),
    defaultBackend: flag({
      name: 'default-backend',
      value: 'SERVICE:PORT',
      read: text,
      help: 'default backend for requests that match no rule',
    }),
    annotation: repeated({
      name: 'annotation',
      value: 'KEY=VALUE',
      read: text,
      help: 'annotation to add to the ingress',
    }),
  },
  type: kinds.Ingress,
  make: ({ rule, class: className, defaultBackend, annotation }, { name }) => {
    if (rule.length === 0 && defaultBackend === '')
      throw new UsageError(
        'not enough information provided: every ingress has to either specify a default-backend (which catches all traffic) or a list of rules',
      )
    const rules = rule.map(readRule)
    const tls = rules.flatMap(({ host, secure }) =>
      secure === undefined ? [] : [{ hosts: [host], ...(secure === '' ? {} : { secretName: secure }) }],
    )
    const annotations =
      annotation.length === 0
        ? {}
        : { metadata: { name, annotations: readPairs(annotation.join(','), '--annotation') } }
    return {
      ...annotations,
      spec: {
        ...(className === '' ? {} : { ingressClassName: className }),
        ...(defaultBackend === '' ? {} : { defaultBackend: backendOf(defaultBackend) }),
        ...(rules.length === 0 ? {} : { rules: rulesOf(rules) }),
        ...(tls.length === 0 ? {} : { tls }),
      },
    }
  },
})

interface Rule {
  readonly host: string
  readonly path: object
  /**
   * Name of the TLS secret. An empty name means the controller's default certificate. Undefined means that TLS is not
   * used.
   */
  readonly secure: string | undefined
}

function readRule(text: string): Rule {
  const match = /^([^/=,]*)(\/[^=,]*)=([^,]+?)(?:,(tls(?:=([^,]*))?))?$/.exec(text)
  if (match === null)
    throw new UsageError(`rule ${text} is invalid and should be in format host/path=svcname:svcport[,tls[=secret]]`)
  const [, host = '', path = '', service = '', tls, secret = ''] = match
  const prefix = path.endsWith('*')
  return {
    host,
    path: {
      path: prefix ? path.slice(0, -1) : path,
      pathType: prefix ? 'Prefix' : 'Exact',
      backend: backendOf(service),
    },
    secure: tls === undefined ? undefined : secret,
  }
}

/** Groups the paths of each host into one rule. */
function rulesOf(rules: readonly Rule[]): object[] {
  const hosts = Map.groupBy(rules, ({ host }) => host)
  return [...hosts].map(([host, all]) => ({
    ...(host === '' ? {} : { host }),
    http: { paths: all.map(({ path }) => path) },
  }))
}

function backendOf(text: string): object {
  const [name = '', port = '', ...more] = text.split(':')
  if (name === '' || port === '' || more.length > 0)
    throw new UsageError(`${JSON.stringify(text)} must have the form SERVICE:PORT`)
  return { service: { name, port: /^\d+$/.test(port) ? { number: Number(port) } : { name: port } } }
}
