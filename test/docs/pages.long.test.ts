/** Runs the commands of all pages for users, except the pages that `first-pages.test.ts` runs. */
import { firstPages, userPages } from './pages.ts'
import { testPages } from './run-page.ts'

testPages(userPages.filter((name) => !firstPages.includes(name)))
