/** An IngressClass names the controller that implements the Ingresses of that class. The controller is immutable. */
import {
  child,
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  required,
  tooLong,
} from '../../model/field-error.ts'
import { checkDnsLabel } from '../../model/names.ts'
import { ageColumn, column, nameColumn } from '../../schema/columns.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, type InferFields, s } from '../../schema/schema.ts'
import { checkDomainPath } from '../domain-path.ts'
import { countsGeneration } from '../generation.ts'
import { immutableField } from '../immutable.ts'
import { checkTypedReference } from './types/typed-reference.ts'

const maxControllerLength = 250

const parametersFields = {
  apiGroup: field(1, s.string(), {
    zeroValue: 'keep',
    doc: 'API group of the referenced object. Empty for the core group.',
  }),
  kind: field(2, s.string(), { zeroValue: 'write', doc: 'Kind of the referenced object.' }),
  name: field(3, s.string(), { zeroValue: 'write', doc: 'Name of the referenced object.' }),
  scope: field(4, s.oneOf('Cluster', 'Namespace'), {
    zeroValue: 'keep',
    default: 'Cluster',
    doc: 'Scope of the referenced object: `Cluster` (the default) or `Namespace`.',
  }),
  namespace: field(5, s.string(), {
    zeroValue: 'keep',
    doc: 'Namespace of the referenced object. Required if `scope` is `Namespace`, and forbidden if `scope` is `Cluster`.',
  }),
}

const parameters = s.object(parametersFields, {
  name: 'IngressClassParametersReference',
  doc: 'Reference to an object with additional settings for an ingress controller.',
  check: (value, path) => [...checkTypedReference(value, path), ...checkNamespace(value, child(path, 'namespace'))],
})

const spec = s.object(
  {
    controller: field(1, s.string(), {
      required: true,
      published: 'optional',
      doc: 'Domain-prefixed name of the controller, such as `example.com/ingress`. At most 250 characters. Immutable.',
    }),
    parameters: field(2, parameters, {
      doc: 'Reference to an object with additional settings for the controller.',
    }),
  },
  {
    name: 'IngressClassSpec',
    doc: 'Specification of an IngressClass: the controller and its parameters.',
    check: ({ controller = '' }, path) => checkController(controller, child(path, 'controller')),
  },
)

const fields = {
  spec: field(2, spec, { zeroValue: 'write', doc: 'Specification of the class: the controller and its parameters.' }),
}

export type IngressClass = ObjectOf<typeof fields>

export const ingressClass = defineKind({
  names: {
    group: 'networking',
    version: 'v1',
    kind: 'IngressClass',
    plural: 'ingressclasses',
    scope: 'Cluster',
  },
  doc: 'A class of Ingresses and the controller that implements them.',
  fields,
  rules: countsGeneration(({ spec }: IngressClass) => spec, {
    validateUpdate: (next, previous) =>
      immutableField('spec.controller', next.spec?.controller ?? '', previous.spec?.controller ?? ''),
  }),
  views: {
    columns: [
      nameColumn,
      column('Controller', 'Controller that implements the class.', ({ spec }: IngressClass) => spec?.controller ?? ''),
      column('Parameters', 'Object with additional settings for the controller.', parametersOf),
      ageColumn,
    ],
  },
})

/** Formats the reference to the class parameters as `Kind.group/name`. */
function parametersOf({ spec }: IngressClass): string {
  if (spec?.parameters === undefined) return '<none>'
  const { kind = '', apiGroup, name = '' } = spec.parameters
  return `${kind}${apiGroup === undefined ? '' : `.${apiGroup}`}/${name}`
}

function checkController(controller: string, path: FieldPath): FieldError[] {
  if (controller === '') return []
  return [
    ...(controller.length > maxControllerLength ? [tooLong(path, maxControllerLength)] : []),
    ...checkDomainPath(controller, path),
  ]
}

function checkNamespace({ scope, namespace }: InferFields<typeof parametersFields>, path: FieldPath): FieldError[] {
  if (scope === 'Cluster')
    return namespace === undefined ? [] : [forbidden(path, "`parameters.scope` is set to 'Cluster'")]
  if (scope !== 'Namespace') return []
  if (namespace === undefined) return [required(path, "`parameters.scope` is set to 'Namespace'")]
  return checkDnsLabel(namespace).map((fault) => invalid(path, namespace, fault))
}
