/** The list of work pages in the order of the side bar, used by the frame, the side bar and the palette. */
import type { JSX } from 'preact'
import { AccessPage } from './access.tsx'
import { AdmissionPage } from './admission.tsx'
import { CertificatesPage } from './certificates.tsx'
import { MapPage } from './map.tsx'
import { NamespacesPage } from './namespaces.tsx'
import { QuotasPage } from './quotas.tsx'

/** A page at `#/operations/<name>`. */
export interface WorkPage {
  readonly name: string
  /** Title in the sidebar. */
  readonly title: string
  /** Title in the palette. Defaults to the title. */
  readonly paletteTitle?: string
  readonly Page: () => JSX.Element
}

/** Every work page. */
export const workPages: readonly WorkPage[] = [
  { name: 'map', title: 'Nodes and pods', Page: MapPage },
  { name: 'certificates', title: 'Certificate requests', Page: CertificatesPage },
  { name: 'access', title: 'Access', paletteTitle: 'Access: who can, and why', Page: AccessPage },
  { name: 'admission', title: 'Admission', Page: AdmissionPage },
  { name: 'namespaces', title: 'Namespaces', paletteTitle: 'Namespaces in termination', Page: NamespacesPage },
  { name: 'quotas', title: 'Quotas', Page: QuotasPage },
]
