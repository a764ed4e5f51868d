//! The parts of long lists that the pages of an account show to its user and to administrators.

use crate::paths;
use web::Links;

/// The number of items of a part. A page with 20 sessions, 20 apps and 20 events has less than 60 kB.
const PART_SIZE: usize = 20;

/// The numbers of the parts that a page shows, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parts {
    pub(crate) sessions: usize,
    pub(crate) apps: usize,
}

/// A part of a list.
pub(in crate::pages) struct Part<T> {
    pub(in crate::pages) items: Vec<T>,
    /// The number of the part, counted from 1.
    pub(in crate::pages) number: usize,
    /// The position in the list of the first item of the part, counted from 1.
    pub(in crate::pages) first: u64,
    /// The position in the list of the last item of the part.
    pub(in crate::pages) last: u64,
    /// The number of items of the list.
    pub(in crate::pages) all: u64,
    /// The paths of the page with the neighboring parts.
    pub(in crate::pages) links: Links,
}

impl Parts {
    /// The first part of each list.
    pub(crate) const FIRST: Self = Self { sessions: 1, apps: 1 };

    /// Parses the numbers of the parts of the sessions and of the apps, as a query or a form has them. A text
    /// that is no number in canonical form, or is missing, stands for the first part.
    pub(crate) fn parse(sessions: Option<&str>, apps: Option<&str>) -> Self {
        let number = |text: Option<&str>| {
            let text = text?;
            let number: usize = text.parse().ok()?;
            (number > 0 && number.to_string() == text).then_some(number)
        };
        Self {
            sessions: number(sessions).unwrap_or(Self::FIRST.sessions),
            apps: number(apps).unwrap_or(Self::FIRST.apps),
        }
    }

    /// Returns the path of a page with these parts.
    pub(crate) fn of_page(self, page: &str) -> String {
        let numbers = [("sessions", self.sessions), ("apps", self.apps)];
        let numbers = numbers.map(|(name, number)| (name, number.to_string()));
        let further = numbers.iter().filter(|(_, number)| number != "1");
        let further: Vec<_> = further.map(|(name, number)| (*name, number.as_str())).collect();
        paths::with_query(page, &further)
    }
}

impl<T> Part<T> {
    /// Returns the part of a list with this number, counted from 1, or the last part if the list has fewer.
    /// `item` prepares an item for the page with the path `page`. `name` is the parameter of the page with
    /// the number, and the id of the heading above the list.
    pub(in crate::pages) fn of<'a, S>(
        list: &'a [S],
        number: usize,
        (page, name): (&str, &str),
        item: impl Fn(&'a S) -> T,
    ) -> Self {
        let count = list.len().div_ceil(PART_SIZE).max(1);
        let number = number.clamp(1, count);
        let path = |number: usize| {
            let path = paths::with_query(page, &[(name, &number.to_string())]);
            format!("{path}#{name}")
        };
        let begin = (number - 1) * PART_SIZE;
        let items: Vec<T> = list.iter().skip(begin).take(PART_SIZE).map(item).collect();
        Self {
            number,
            first: begin as u64 + 1,
            last: (begin + items.len()) as u64,
            all: list.len() as u64,
            links: Links {
                next: (number < count).then(|| path(number + 1)),
                prev: (number > 1).then(|| path(number - 1)),
            },
            items,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(len: usize, number: usize) -> Part<usize> {
        let list: Vec<usize> = (1..=len).collect();
        Part::of(&list, number, ("/account", "apps"), |item| *item)
    }

    #[test]
    fn the_parts_have_every_item_once() {
        for len in [0, 1, 20, 21, 40, 41, 100] {
            let (mut seen, mut number) = (Vec::new(), 1);
            loop {
                let part = part(len, number);
                assert_eq!(
                    (part.all, part.last),
                    (len as u64, (seen.len() + part.items.len()) as u64)
                );
                assert_eq!(part.first, seen.len() as u64 + 1);
                seen.extend(part.items);
                if part.links.next.is_none() {
                    break;
                }
                number += 1;
            }
            assert_eq!(seen, (1..=len).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_part_has_links_to_its_neighbors() {
        let links = part(60, 2).links;
        assert_eq!(links.prev.as_deref(), Some("/account?apps=1#apps"));
        assert_eq!(links.next.as_deref(), Some("/account?apps=3#apps"));
        for (number, shown) in [(0, 1), (1, 1), (3, 3), (usize::MAX, 3)] {
            assert_eq!(part(60, number).first, (shown - 1) * 20 + 1, "{number}");
        }
    }

    #[test]
    fn a_number_that_is_not_canonical_stands_for_the_first_part() {
        let (sessions, apps) = (3, 12);
        assert_eq!(Parts::parse(Some("3"), Some("12")), Parts { sessions, apps });
        for text in ["", "x", "0", "+5", "05", " 5", "٣", "99999999999999999999"] {
            assert_eq!(Parts::parse(Some(text), None), Parts::FIRST, "{text}");
        }
    }

    #[test]
    fn the_path_of_a_page_names_the_further_parts() {
        let path = |sessions, apps| Parts { sessions, apps }.of_page("/account");
        assert_eq!(path(1, 1), "/account");
        assert_eq!(path(1, 5), "/account?apps=5");
        assert_eq!(path(3, 12), "/account?sessions=3&apps=12");
    }
}
