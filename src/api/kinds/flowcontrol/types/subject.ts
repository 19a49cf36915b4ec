/** Subject: whose requests a flow is made of: those of a user, a group, or a service account. */
import {
  child,
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
} from '../../../model/field-error.ts'
import { keysOf } from '../../../json/json.ts'
import { checkDnsLabel, checkDnsSubdomain } from '../../../model/names.ts'
import { field, type InferFields, s } from '../../../schema/schema.ts'

const user = s.object(
  { name: field(1, s.string(), { zero: 'write', required: true, doc: 'The name; `*` is every user.' }) },
  { name: 'UserSubject', doc: 'A user.' },
)

const group = s.object(
  { name: field(1, s.string(), { zero: 'write', required: true, doc: 'The name; `*` is every group.' }) },
  { name: 'GroupSubject', doc: 'A group.' },
)

const accountFields = {
  namespace: field(1, s.string(), { zero: 'write', doc: 'The namespace.' }),
  name: field(2, s.string(), { zero: 'write', doc: 'The name; `*` is every account of the namespace.' }),
}

const serviceAccount = s.object(accountFields, {
  name: 'ServiceAccountSubject',
  doc: 'A service account.',
  check: checkAccount,
})

/** The kinds, and the member that each needs. */
const members = { Group: 'group', ServiceAccount: 'serviceAccount', User: 'user' } as const
const kinds = keysOf(members)

const subjectFields = {
  kind: field(1, s.string(), { zero: 'write', doc: 'User, Group or ServiceAccount.' }),
  user: field(2, user, { doc: 'The user.' }),
  group: field(3, group, { doc: 'The group.' }),
  serviceAccount: field(4, serviceAccount, { doc: 'The service account.' }),
}

type Subject = InferFields<typeof subjectFields>

export const subject = s.object(subjectFields, {
  name: 'Subject',
  doc: 'The sender of requests, in the member that is named after the kind.',
  leavesUnjudged: ({ kind }) => kinds.filter((each) => each !== kind).map((each) => members[each]),
  check: checkSubject,
})

function checkSubject(value: Subject, path: FieldPath): FieldError[] {
  const { kind = '' } = value
  const known = kinds.find((each) => each === kind)
  if (known === undefined) return [notSupported(child(path, 'kind'), kind, kinds)]
  return kinds.flatMap((each) => {
    const name = members[each]
    const isThere = value[name] !== undefined
    if (isThere === (each === known)) return []
    const place = child(path, name)
    return isThere
      ? [forbidden(place, `${name} is forbidden when subject kind is not '${each}'`)]
      : [required(place, `${name} is required when subject kind is '${each}'`)]
  })
}

function checkAccount({ name = '', namespace = '' }: InferFields<typeof accountFields>, path: FieldPath): FieldError[] {
  const [namePath, namespacePath] = [child(path, 'name'), child(path, 'namespace')]
  const nameFaults = name === '' || name === '*' ? [] : checkDnsSubdomain(name)
  const namespaceFaults = namespace === '' ? [] : checkDnsLabel(namespace)
  return [
    ...(name === '' ? [required(namePath)] : []),
    ...nameFaults.map((fault) => invalid(namePath, name, fault)),
    ...(namespace === '' ? [required(namespacePath, 'must specify namespace for service account')] : []),
    ...namespaceFaults.map((fault) => invalid(namespacePath, namespace, fault)),
  ]
}
