/** An IPAddress represents an IP address that is allocated to an object. */
import { sameJson } from '../../json/json.ts'
import { child, type FieldError, invalid, required } from '../../model/field-error.ts'
import { checkDnsSubdomain, checkPathSegment } from '../../model/names.ts'
import { checkCanonicalIp } from '../../model/strict-ip.ts'
import { ageColumn, column, nameColumn } from '../../schema/columns.ts'
import { defineKind, defineVersion, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'

const parentReference = s.object(
  {
    group: field(1, s.string(), { doc: 'API group of the object.' }),
    resource: field(2, s.string(), { zeroValue: 'write', doc: 'Resource type of the object, such as `services`.' }),
    namespace: field(3, s.string(), { doc: 'Namespace of the object.' }),
    name: field(4, s.string(), { zeroValue: 'write', doc: 'Name of the object.' }),
  },
  { name: 'ParentReference', doc: 'Reference to the object to which an IP address is allocated.' },
)

const spec = s.object(
  {
    parentRef: field(1, parentReference, {
      published: 'required',
      doc: 'Object to which the address is allocated. Immutable.',
    }),
  },
  { name: 'IPAddressSpec', doc: 'Specification of an IPAddress.' },
)

const fields = {
  spec: field(2, spec, { zeroValue: 'write', published: 'required', doc: 'Object to which the address is allocated.' }),
}

export type IPAddress = ObjectOf<typeof fields>

function parentOf({ spec: { parentRef = {} } = {} }: IPAddress): string {
  const { group, resource, namespace, name } = parentRef
  return [[resource, group].filter(Boolean).join('.'), namespace, name].filter(Boolean).join('/')
}

export const ipAddress = defineKind({
  names: {
    group: 'networking',
    version: 'v1',
    kind: 'IPAddress',
    plural: 'ipaddresses',
    shortNames: ['ip'],
    scope: 'Cluster',
    nameFormat: checkCanonicalIp,
  },
  since: '1.33',
  doc: 'An IP address that is allocated to an object. The name of the IPAddress is the address in canonical form.',
  fields,
  rules: {
    validate: checkParent,
    validateUpdate: ({ spec: next }, { spec: previous }) =>
      sameJson(next?.parentRef, previous?.parentRef)
        ? []
        : [invalid(parentPath, next?.parentRef, 'field is immutable')],
  },
  views: {
    columns: [nameColumn, column('ParentRef', 'Object to which the address is allocated.', parentOf), ageColumn],
  },
})

const parentPath = 'spec.parentRef'

/**
 * Validates the reference to the owner of an address. The group may be empty, because Services belong to the core
 * group.
 */
function checkParent({ spec }: IPAddress): FieldError[] {
  if (spec?.parentRef === undefined) return [required(parentPath)]
  const { group = '', namespace = '', ...names } = spec.parentRef
  return [
    ...(group === '' ? [] : checkDnsSubdomain(group)).map((fault) => invalid(child(parentPath, 'group'), group, fault)),
    ...(['resource', 'name'] as const).flatMap((key) => {
      const { [key]: value = '' } = names
      const place = child(parentPath, key)
      return value === '' ? [required(place)] : checkPathSegment(value).map((fault) => invalid(place, value, fault))
    }),
    ...(namespace === '' ? [] : checkPathSegment(namespace)).map((fault) =>
      invalid(child(parentPath, 'namespace'), namespace, fault),
    ),
  ]
}

export const ipAddressV1beta1 = defineVersion(ipAddress, { version: 'v1beta1', fields, since: '1.31', optIn: true })
