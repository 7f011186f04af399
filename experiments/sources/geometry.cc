// geometry.cc -- boost.geometry to compile: set operations, relations and measures of polygons and lines, for CASES types of coordinates
#include <boost/geometry.hpp>
#include <boost/geometry/geometries/geometries.hpp>
#include <boost/geometry/geometries/point_xy.hpp>
#include <vector>
namespace bg = boost::geometry;

template <typename Point> struct Shapes {
    using Polygon = bg::model::polygon<Point>;
    using Line = bg::model::linestring<Point>;
    using Polygons = bg::model::multi_polygon<Polygon>;
    using Lines = bg::model::multi_linestring<Line>;
};

template <typename Point> double exercise(const std::vector<Point> &points)
{
    using S = Shapes<Point>;
    typename S::Polygon a, b;
    typename S::Line l, m;
    typename S::Polygons out, other;
    typename S::Lines lines;
    for (const Point &p : points) {
        bg::append(a, p);
        bg::append(b, p);
        bg::append(l, p);
    }
    bg::correct(a);
    bg::intersection(a, b, out);
    bg::union_(a, b, out);
    bg::difference(a, b, out);
    bg::sym_difference(a, b, out);
    bg::intersection(out, a, other);
    bg::union_(out, b, other);
    bg::difference(out, b, other);
    bg::intersection(l, a, lines);
    bg::difference(l, a, lines);
    bg::simplify(l, m, 0.1);
    typename S::Polygon hull;
    bg::convex_hull(out, hull);
    double sum = bg::area(a) + bg::length(l) + bg::perimeter(b) + bg::distance(a, l) + bg::distance(out, a);
    sum += bg::within(a, b) + bg::touches(a, b) + bg::overlaps(a, b) + bg::equals(a, b) + bg::crosses(l, a) + bg::intersects(l, a) + bg::covered_by(a, b) + bg::disjoint(a, out);
    sum += bg::is_valid(a) + bg::is_simple(l) + bg::relate(a, b, bg::de9im::mask("T*F**F***"));
    return sum;
}

template <typename... Number> double exercise_all()
{
    return (exercise(std::vector<bg::model::d2::point_xy<Number>>()) + ...);
}

double all()
{
#if CASES > 2
    return exercise_all<double, float, long double>();
#elif CASES > 1
    return exercise_all<double, float>();
#else
    return exercise_all<double>();
#endif
}
