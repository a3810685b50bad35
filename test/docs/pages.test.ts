import { isSlow, pages } from "../support/page.ts";
import { testPage } from "../support/page-tests.ts";

for (const page of pages()) if (!isSlow(page)) testPage(page);
