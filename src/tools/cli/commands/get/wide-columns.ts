/**
 * Additional columns of wide tables: the decoded content of certificate signing requests. The server sends only the
 * columns that Kubernetes defines, so orchctl computes the additional columns from the objects.
 */

import type { CertificateSigningRequest } from '../../../../api/kinds/certificates/certificate-signing-request.ts'
import { MalformedInput } from '../../../../api/pki/malformed-input.ts'
import { requestedNames } from '../../../../api/pki/requested-names.ts'
import type { DiscoveredType } from '../../../../client/requests/discovery.ts'
import type { Table, TableColumn, TableRow } from '../../../../client/requests/table.ts'
import { decodeRequest, keyText, quoted } from '../../printers/certificate-content.ts'
import type { Getting } from './get-flags.ts'

/** Whether orchctl adds its own columns to wide tables of this type. If so, rows must contain full objects. */
export function hasWideColumns({ group, plural }: DiscoveredType, { output }: Getting['options']): boolean {
  return output.form === 'wide' && plural === 'certificatesigningrequests' && group.startsWith('certificates.')
}

export function withWideColumns(table: Table): Table {
  const added = ['Subject', 'Names', 'Key', 'Usages'].map(
    (name): TableColumn => ({ name, type: 'string', format: '', priority: 1 }),
  )
  return { ...table, columns: [...table.columns, ...added], rows: table.rows.map(withContent) }
}

function withContent({ cells, object }: TableRow): TableRow {
  return { cells: [...cells, ...contentOf((object ?? {}) as CertificateSigningRequest)], object }
}

function contentOf(request: CertificateSigningRequest): string[] {
  const usages = (request.spec?.usages ?? []).join(',')
  const decoded = decodeRequest(request)
  if (decoded instanceof MalformedInput) return ['<unreadable>', '<none>', '<none>', usages]
  const { commonNames, organizations } = decoded.subject
  const subject = [...commonNames.map((name) => `CN=${name}`), ...organizations.map((name) => `O=${name}`)]
  const { dns, ips, emails, uris } = requestedNames(decoded)
  const names = [...dns, ...ips, ...emails, ...uris]
  return [quoted(subject) || '<none>', quoted(names) || '<none>', keyText(decoded), usages]
}
