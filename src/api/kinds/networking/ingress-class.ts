/** IngressClass: a sort of Ingress, and the controller that carries out those of it. The controller stays. */
import {
  child,
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  required,
  tooLong,
} from '../../model/field-error.ts'
import { checkDnsLabel, checkDnsSubdomain } from '../../model/names.ts'
import { ageColumn, column, nameColumn } from '../../schema/columns.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, type InferFields, s } from '../../schema/schema.ts'
import { countsGeneration } from '../generation.ts'
import { immutableField } from '../immutable.ts'
import { checkTypedReference } from './types/typed-reference.ts'

const maxControllerLength = 250
const pathForm = /^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/

const parametersFields = {
  apiGroup: field(1, s.string(), { zero: 'keep', doc: 'The group of its kind; the core group if unset.' }),
  kind: field(2, s.string(), { zero: 'write', doc: 'Its kind.' }),
  name: field(3, s.string(), { zero: 'write', doc: 'Its name.' }),
  scope: field(4, s.oneOf('Cluster', 'Namespace'), {
    zero: 'keep',
    default: 'Cluster',
    doc: 'Whether it is in a Namespace or not: Cluster, the default.',
  }),
  namespace: field(5, s.string(), { zero: 'keep', doc: 'Its namespace, where it has one.' }),
}

const parameters = s.object(parametersFields, {
  name: 'IngressClassParametersReference',
  doc: 'An object with further settings for the controller.',
  check: (value, path) => [...checkTypedReference(value, path), ...checkNamespace(value, child(path, 'namespace'))],
})

const spec = s.object(
  {
    controller: field(1, s.string(), {
      required: true,
      published: 'optional',
      doc: 'The controller, as a domain and a path such as `example.com/controller`. Cannot change.',
    }),
    parameters: field(2, parameters, { doc: 'An object with further settings.' }),
  },
  {
    name: 'IngressClassSpec',
    doc: 'The controller of the Ingresses of this class, and its settings.',
    check: ({ controller = '' }, path) => checkController(controller, child(path, 'controller')),
  },
)

const fields = { spec: field(2, spec, { zero: 'write', doc: 'The controller and its settings.' }) }

export type IngressClass = ObjectOf<typeof fields>

export const ingressClass = defineKind({
  names: {
    group: 'networking',
    version: 'v1',
    kind: 'IngressClass',
    plural: 'ingressclasses',
    scope: 'Cluster',
  },
  doc: 'A class of Ingresses, and the controller that implements them.',
  fields,
  rules: countsGeneration(({ spec }: IngressClass) => spec, {
    validateUpdate: (next, previous) =>
      immutableField('spec.controller', next.spec?.controller ?? '', previous.spec?.controller ?? ''),
  }),
  views: {
    columns: [
      nameColumn,
      column('Controller', 'The controller.', ({ spec }: IngressClass) => spec?.controller ?? ''),
      column('Parameters', 'An object with further settings.', parametersOf),
      ageColumn,
    ],
  },
})

/** `Kind.group/name`. */
function parametersOf({ spec }: IngressClass): string {
  if (spec?.parameters === undefined) return '<none>'
  const { kind = '', apiGroup, name = '' } = spec.parameters
  return `${kind}${apiGroup === undefined ? '' : `.${apiGroup}`}/${name}`
}

function checkController(controller: string, path: FieldPath): FieldError[] {
  if (controller === '') return []
  const slash = controller.indexOf('/')
  const [domain, rest] = [controller.slice(0, slash), controller.slice(slash + 1)]
  const long = controller.length > maxControllerLength ? [tooLong(path, maxControllerLength)] : []
  if (slash < 1 || rest === '')
    return [...long, invalid(path, controller, 'must be a domain-prefixed path (such as "example.com/foo")')]
  return [
    ...long,
    ...checkDnsSubdomain(domain).map((fault) => invalid(path, domain, fault)),
    ...(pathForm.test(rest)
      ? []
      : [invalid(path, rest, "a path consists of letters, digits and any of /-._~%!$&'()*+,;=:")]),
  ]
}

function checkNamespace({ scope, namespace }: InferFields<typeof parametersFields>, path: FieldPath): FieldError[] {
  if (scope === 'Cluster')
    return namespace === undefined ? [] : [forbidden(path, "`parameters.scope` is set to 'Cluster'")]
  if (scope !== 'Namespace') return []
  if (namespace === undefined) return [required(path, "`parameters.scope` is set to 'Namespace'")]
  return checkDnsLabel(namespace).map((fault) => invalid(path, namespace, fault))
}
