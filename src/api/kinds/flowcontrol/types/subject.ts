/** A Subject is the sender of requests that a flow schema matches: a user, a group or a service account. */

import { keysOf } from '../../../json/json.ts'
import {
  child,
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
} from '../../../model/field-error.ts'
import { checkDnsLabel, checkDnsSubdomain } from '../../../model/names.ts'
import { field, type InferFields, s } from '../../../schema/schema.ts'

const user = s.object(
  {
    name: field(1, s.string(), { zeroValue: 'write', required: true, doc: 'Name of the user. `*` matches all users.' }),
  },
  { name: 'UserSubject', doc: 'A user whose requests match.' },
)

const group = s.object(
  {
    name: field(1, s.string(), {
      zeroValue: 'write',
      required: true,
      doc: 'Name of the group. `*` matches all groups.',
    }),
  },
  { name: 'GroupSubject', doc: 'A group whose requests match.' },
)

const accountFields = {
  namespace: field(1, s.string(), { zeroValue: 'write', doc: 'Namespace of the service account.' }),
  name: field(2, s.string(), {
    zeroValue: 'write',
    doc: 'Name of the service account. `*` matches all service accounts in the namespace.',
  }),
}

const serviceAccount = s.object(accountFields, {
  name: 'ServiceAccountSubject',
  doc: 'A service account whose requests match.',
  check: checkAccount,
})

/** The field that must be set in a subject of each kind. */
const members = { Group: 'group', ServiceAccount: 'serviceAccount', User: 'user' } as const
const kinds = keysOf(members)

const subjectFields = {
  kind: field(1, s.string(), { zeroValue: 'write', doc: 'Kind of the subject: `User`, `Group` or `ServiceAccount`.' }),
  user: field(2, user, { doc: 'User whose requests match. Set if the kind is `User`.' }),
  group: field(3, group, { doc: 'Group whose requests match. Set if the kind is `Group`.' }),
  serviceAccount: field(4, serviceAccount, {
    doc: 'Service account whose requests match. Set if the kind is `ServiceAccount`.',
  }),
}

type Subject = InferFields<typeof subjectFields>

export const subject = s.object(subjectFields, {
  name: 'Subject',
  doc: 'The sender of a request. Only the field that corresponds to `kind` may be set.',
  fieldsToSkip: ({ kind }) => kinds.filter((each) => each !== kind).map((each) => members[each]),
  check: checkSubject,
})

function checkSubject(value: Subject, path: FieldPath): FieldError[] {
  const { kind = '' } = value
  const knownKind = kinds.find((each) => each === kind)
  if (knownKind === undefined) return [notSupported(child(path, 'kind'), kind, kinds)]
  return kinds.flatMap((each) => {
    const name = members[each]
    const isThere = value[name] !== undefined
    if (isThere === (each === knownKind)) return []
    const place = child(path, name)
    return isThere
      ? [forbidden(place, `${name} is forbidden when subject kind is not '${each}'`)]
      : [required(place, `${name} is required when subject kind is '${each}'`)]
  })
}

function checkAccount({ name = '', namespace = '' }: InferFields<typeof accountFields>, path: FieldPath): FieldError[] {
  const namePath = child(path, 'name')
  const namespacePath = child(path, 'namespace')
  const nameFaults = name === '' || name === '*' ? [] : checkDnsSubdomain(name)
  const namespaceFaults = namespace === '' ? [] : checkDnsLabel(namespace)
  return [
    ...(name === '' ? [required(namePath)] : []),
    ...nameFaults.map((fault) => invalid(namePath, name, fault)),
    ...(namespace === '' ? [required(namespacePath, 'must specify namespace for service account')] : []),
    ...namespaceFaults.map((fault) => invalid(namespacePath, namespace, fault)),
  ]
}
