/** Runs the commands of all pages for users, except the pages that other test files run. */
import { firstPages, operatorPages, userPages } from './pages.ts'
import { testPages } from './run-page.ts'

testPages(userPages.filter((name) => !firstPages.includes(name) && !operatorPages.includes(name)))
